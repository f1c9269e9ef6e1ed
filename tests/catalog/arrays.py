"""Seeded arrays and the comparison that the catalog tests share."""
import zlib

import numpy as np

TYPES = {'f32': np.float32, 'f16': np.float16, 'f64': np.float64, 'i32': np.int32, 'u32': np.uint32, 'i8': np.int8,
         'u8': np.uint8, 'i64': np.int64, 'u64': np.uint64, 'bool': np.bool_}
NAMES = {np.dtype(v): k for k, v in TYPES.items()}

# Ranks 0 to 5, sizes around the workgroup's, empty tensors.
SHAPES = [(), (1,), (2,), (3,), (63,), (64,), (65,), (255,), (256,), (257,), (1000,), (1024,), (0,), (3, 0, 2), (2, 3), (5, 7), (33, 31),
          (2, 3, 4), (4, 1, 3), (2, 3, 4, 5), (2, 2, 3, 2, 3), (4, 1000), (1, 1, 1, 1, 1)]
# Pairs that broadcast: scalars, both-sided, missing leading dimensions, empty ones, sizes that are done four at a time.
PAIRS = [((), ()), ((), (3,)), ((65,), ()), ((4, 1), (1, 5)), ((3, 1, 5), (4, 1)), ((2, 3, 4), (4,)), ((2, 3, 4, 5), (3, 1, 5)),
         ((2, 1, 3, 1, 2), (1, 4, 1, 5, 1)), ((0, 3), (1, 3)), ((0,), (1,)), ((1000,), (1,)), ((1,), (257,)), ((64,), (64,)), ((63,), (63,)),
         ((16, 64), (16, 64)), ((32, 64), (64,)), ((32, 64), (32, 1)), ((64, 32), (1,)), ((32, 1), (1, 64)), ((7, 3, 2), (7, 3, 2))]


def rng(*key):
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def name(a):
    return NAMES[a.dtype]


def is_float(t):
    return t[0] == 'f'


def array(t, shape, *key, low=None, high=None, special=False):
    """Random values of dtype t. Integers take the whole range unless low and high say otherwise; floats are mostly
    within 10, with both zeros, and with infinities and NaN where special."""
    r = rng(t, shape, key)
    if t == 'bool':
        return r.integers(0, 2, shape).astype(bool)
    dtype = TYPES[t]
    if not is_float(t):
        info = np.iinfo(dtype)
        a = r.integers(info.min if low is None else low, info.max if high is None else high, shape, dtype=dtype, endpoint=True)
        edges = np.array([0, 1, info.max, info.min, info.max - 1, 5], dtype=dtype)
    else:
        low, high = -10 if low is None else low, 10 if high is None else high
        a = r.uniform(low, high, shape)
        edges = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 2.0] + ([np.inf, -np.inf, np.nan] if special else []))
    a = np.asarray(a).astype(dtype)
    if a.size >= 2 * len(edges) and (special or low is None or is_float(t)):
        at = r.permutation(a.size)[:len(edges)]
        keep = (edges >= low) & (edges <= high) if is_float(t) and not special else np.ones(len(edges), bool)
        if low is None or is_float(t):
            a.reshape(-1)[at[keep]] = edges[keep].astype(dtype)
    return a


def wide(a):
    return a.astype(np.float64) if a.dtype.kind == 'f' else a


def differs(got, want, rel, absolute):
    """None, or words on the first element that is off. want may be of higher precision than got."""
    if got.shape != want.shape:
        return 'shape %s, expected %s' % (got.shape, want.shape)
    if want.dtype.kind != 'f':
        bad = got != want
    else:
        g, w = got.astype(np.float64), want.astype(np.float64)
        with np.errstate(all='ignore'):
            if got.dtype != np.float64:
                limit = float(np.finfo(got.dtype).max)
                w = np.where(np.abs(w) > limit * (1 + 1e-7), np.copysign(np.inf, w), w)
            off = ~(np.abs(g - w) <= rel * np.abs(w) + absolute)
        bad = np.where(np.isfinite(w), off, ~((g == w) | (np.isnan(g) & np.isnan(w))))
    if not bad.any():
        return None
    at = tuple(int(i) for i in np.argwhere(bad)[0]) if bad.shape else ()
    return '%d of %d differ, first at %s: got %r, expected %r' % (bad.sum(), bad.size, at, got[at].item(), want[at].item())
