"""Cases of transforms, convolution, random numbers, counting, and what fills or shrinks tensors."""
import math
import os
import re

import numpy as np

from arrays import array, is_float, rng, wide

ROOT = os.environ.get('GRADUS_ROOT') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 16, 30, 31, 97, 120, 128, 1000, 1009, 1024, 2310, 4096]


def pairs(z):
    return np.stack([z.real, z.imag], -1)


def transform(op, ts):
    for k, n in enumerate(LENGTHS + [0]):
        for lead in ((), (3,), (2, 2)) if n < 200 else ((),):
            scale = math.sqrt(n + 1)
            how = {'tolerance': ((1e-6, 2e-6 * scale), (2e-6, 4e-6 * scale), (1e-9, 1e-9 * scale)), 'wide': n < 200}
            x = rng(op, n, lead).uniform(-1, 1, lead + (n, 2)).astype(np.float32)
            z = wide(x)[..., 0] + 1j * wide(x)[..., 1]
            if op == 'fft':
                inverse, normalize = bool(k % 2), ('none', 'ortho', 'length')[k % 3]
                want = np.fft.ifft(z) * n if n and inverse else np.fft.fft(z) if n else z
                want = want * {'none': 1, 'ortho': 1 / math.sqrt(max(n, 1)), 'length': 1 / max(n, 1)}[normalize]
                yield op, [('x', x)], {'inverse': inverse, 'normalize': '"%s"' % normalize}, [pairs(want)], how
            elif op == 'inverse_fft':
                yield op, [('x', x)], {}, [pairs(np.fft.ifft(z) if n else z)], how
            elif op == 'real_fft' and n:
                yield op, [('x', x[..., 0].copy())], {}, [pairs(np.fft.rfft(wide(x)[..., 0]))], how
            elif op == 'inverse_real_fft' and n:
                yield op, [('x', x[..., :n // 2 + 1, :].copy())], {'n': n}, [np.fft.irfft(z[..., :n // 2 + 1], n)], how


def convolve1d(op, ts):
    for t in ts:
        for shape, w in [((1,), 1), ((5,), 3), ((3,), 5), ((7,), 7), ((2, 3, 40), 9), ((300,), 17), ((0, 4), 2)]:
            for mode in ('full', 'same', 'valid'):
                x, f = array(t, shape, op, low=-2, high=2), array(t, (w,), op, 'f', low=-2, high=2)
                rows = wide(x).reshape(-1, shape[-1])
                size = np.convolve(np.zeros(shape[-1]), np.zeros(w), mode).size
                want = np.array([np.convolve(r, wide(f), mode) for r in rows]).reshape(shape[:-1] + (size,))
                yield op, [('x', x), ('filter', f)], {'mode': '"%s"' % mode}, [want], {'tolerance': 'sum', 'wide': t == 'f32'}


# ---- random numbers ----

def philox(counters, key):
    """Words of Philox 4x32-10 at counters (n, 4)."""
    c = [np.asarray(v, np.uint64) for v in counters]
    k0, k1 = key
    low = np.uint64(0xffffffff)
    for _ in range(10):
        a, b = c[0] * np.uint64(0xd2511f53), c[2] * np.uint64(0xcd9e8d57)
        c = [(b >> np.uint64(32)) ^ c[1] ^ np.uint64(k0), b & low, (a >> np.uint64(32)) ^ c[3] ^ np.uint64(k1), a & low]
        k0, k1 = (k0 + 0x9e3779b9) & 0xffffffff, (k1 + 0xbb67ae85) & 0xffffffff
    return np.stack(c, -1)


def words(n, seed, stream, kind, turn=0):
    blocks = np.arange((n + 3) // 4, dtype=np.uint64)
    zero = np.zeros_like(blocks)
    return philox([blocks, zero + np.uint64(turn), zero, zero + np.uint64(kind)], (seed, stream)).reshape(-1)[:n]


def known_answer():
    """The first vectors that the authors of Philox give."""
    none, ones = [np.zeros(1, np.uint64)] * 4, [np.full(1, 0xffffffff, np.uint64)] * 4
    assert [hex(int(v)) for v in philox(none, (0, 0))[0]] == ['0x6627e8d5', '0xe169c58d', '0xbc57ac4c', '0x9b00dbd8']
    assert [hex(int(v)) for v in philox(ones, (0xffffffff, 0xffffffff))[0]] == ['0x408f276d', '0x41c83b0e', '0xa20bc7c6', '0x6d5451fd']


def quantile_table():
    with open(os.path.join(ROOT, 'catalog/random_normal@1/kernel.wgsl')) as f:
        rows = re.findall(r'vec4<u32>\((\d+)u, (\d+)u, (\d+)u, (\d+)u\)', f.read())
    return np.array(rows, np.uint64)


def normals(w):
    """The fixed-point quantile, in integers."""
    n = ((w << np.uint64(1)) & np.uint64(0xffffffff)) | np.uint64(1)
    octave = np.uint64(31) - np.floor(np.log2(n.astype(np.float64))).astype(np.uint64)
    rest = (n << octave << np.uint64(1)) & np.uint64(0xffffffff)
    a, b, c, d = quantile_table()[(octave * np.uint64(8) + (rest >> np.uint64(29))).astype(int)].T
    t, s = (rest << np.uint64(3)) & np.uint64(0xffffffff), np.uint64(32)
    fixed = a - np.minimum((b - ((c - (d * t >> s)) * t >> s)) * t >> s, a)
    z = ((fixed + np.uint64(128)) >> np.uint64(8)).astype(np.float64) * 2.0 ** -21
    return np.where(w >= 0x80000000, -z, z), n.astype(np.float64) * 2.0 ** -33


def tail(z):
    return np.array([math.erfc(v / math.sqrt(2)) / 2 for v in z])


def distributed(x, cdf, mean, variance):
    """Moments and the Kolmogorov-Smirnov distance of numbers that are said to have this distribution."""
    n = x.size
    assert abs(x.mean() - mean) < 4 * math.sqrt(variance / n) and abs(x.var() / variance - 1) < 8 / math.sqrt(n)
    f = cdf(np.sort(x))
    at = np.arange(n)
    assert max((f - at / n).max(), ((at + 1) / n - f).max()) < 1.63 / math.sqrt(n)


def random_uniform(op, ts):
    known_answer()
    u = (words(40000, 7, 3, 0) >> np.uint64(8)).astype(np.float64) * 2.0 ** -24
    distributed(u, lambda v: v, 0.5, 1 / 12)
    for shape, seed, stream in [((1,), 0, 0), ((3,), 1, 0), ((0, 2), 1, 0), ((5, 7), 4294967295, 4294967295), ((1000,), 7, 3), ((), 5, 0)]:
        n = int(np.prod(shape))
        u = ((words(n, seed, stream, 0) >> np.uint64(8)).astype(np.float32) * np.float32(2.0 ** -24)).reshape(shape)
        yield op, [], {'shape': list(shape), 'seed': seed, 'stream': stream}, [u], {}
        low, scale = np.float32(-0.3), np.float32(np.float64(np.float32(2.6)) - np.float64(np.float32(-0.3)))
        moved = low + (u * scale).astype(np.float32)
        yield op, [], {'shape': list(shape), 'seed': seed, 'stream': stream, 'low': -0.3, 'high': 2.6}, [moved.astype(np.float32)], {}


def dropout(op, ts):
    assert abs(np.mean((words(40000, 3, 0, 2) >> np.uint64(8)) < 0.3 * 2 ** 24) - 0.3) < 0.01
    for t in ts:
        for shape, params, step in [((5,), {}, None), ((3, 7), {'seed': 4294967295, 'stream': 9}, None), ((0, 2), {}, None), ((), {'rate': 0.25}, None), ((1001,), {'rate': 0.1, 'seed': 3}, 7),
                                    ((1001,), {'rate': 0.1, 'seed': 3}, -8), ((4, 4), {'rate': 0.0}, 1), ((9,), {'training': False, 'rate': 0.9}, None)]:
            x = array(t, shape, op)
            rate = np.float32(params.get('rate', 0.5)) if params.get('training', True) else np.float32(0)
            w = words(x.size, params.get('seed', 0), params.get('stream', 0), 2, (step or 0) % (1 << 32)).reshape(shape)
            kept = (w >> np.uint64(8)) >= math.ceil(float(rate) * 2 ** 24)
            scale = np.float32(1 / (1 - float(rate)))
            y = np.where(kept, (x.astype(np.float32) * scale).astype(x.dtype), x.dtype.type(0))
            yield op, [('x', x)] + ([] if step is None else [('step', np.asarray(step, np.int32))]), params, [np.asarray(y)], {'tolerance': ((0, 0), (0, 0), (2e-7, 1e-12)), 'wide': t == 'f32'}


def random_normal(op, ts):
    known_answer()
    z, p = normals(words(40000, 7, 3, 1))
    distributed(z, lambda v: 1 - tail(v), 0, 1)
    extreme = np.array([0, 1, 2, 3, 100, 12345, 1 << 20, 0x7fffffff, 0x7ffffff0, 0x40000000], np.uint64)
    for v, q in (normals(extreme), (np.abs(z[:2000]), p[:2000])):
        slope = np.exp(-v * v / 2) / math.sqrt(2 * math.pi)
        assert (np.abs(tail(v) - q) / slope < 1e-6).all()
    for shape, seed, stream in [((1,), 0, 0), ((3,), 1, 0), ((0, 2), 1, 0), ((5, 7), 4294967295, 4294967295), ((4000,), 7, 3), ((), 5, 0)]:
        n = int(np.prod(shape))
        z = normals(words(n, seed, stream, 1))[0].astype(np.float32).reshape(shape)
        yield op, [], {'shape': list(shape), 'seed': seed, 'stream': stream}, [z], {}
        moved = np.float32(1.7) + (z * np.float32(0.3)).astype(np.float32)
        yield op, [], {'shape': list(shape), 'seed': seed, 'stream': stream, 'mean': 1.7, 'deviation': 0.3}, [moved.astype(np.float32)], {}


# ---- counting and medians ----

def histogram(op, ts):
    for t in ts:
        for shape, bins, low, high in [((1,), 1, -1.0, 1.0), ((0,), 3, 0.0, 1.0), ((1000,), 8, -8.0, 8.0), ((3, 500), 7, -9.0, 9.0), ((5000,), 256, -10.0, 10.0), ((6000,), 3000, -10.0, 10.0), ((300,), 10, -1.0, 1.0)]:
            x = array(t, shape, op, special=True)
            step = np.float32((high - low) / bins)
            edges = (np.float32(low) + (np.arange(bins, dtype=np.float32) * step).astype(np.float32)).astype(np.float32)
            v = x.astype(np.float32).reshape(-1)
            v = v[(v >= low) & (v <= high)]
            want = np.bincount(np.clip(np.searchsorted(edges, v, 'right') - 1, 0, bins - 1), minlength=bins).astype(np.uint32)
            if bins == 8:
                assert (want == np.histogram(v, bins, (low, high))[0]).all()
            yield op, [('x', x)], {'bins': bins, 'low': low, 'high': high}, [want], {'wide': t == 'f32' and bins == 8}


def reduce_median(op, ts):
    for t in ts:
        for shape, axes in [((1,), [0]), ((2,), [0]), ((33,), [0]), ((34,), [0]), ((5, 7), [1]), ((5, 8), [0]), ((3, 4, 5), [0, 2]), ((3, 2000), [1]), ((0, 3), [1]), ((2, 3, 40), [2, 1]), ((1001,), [])]:
            for keep in (False, True):
                x = array(t, shape, op)
                want = np.median(wide(x), axis=tuple(axes), keepdims=keep) if axes else wide(x)
                yield op, [('x', x)], {'axes': axes, 'keep_dimensions': keep}, [np.asarray(want)], {'tolerance': 'rounded', 'wide': t == 'f32' and x.size < 500}
    yield op, [('x', array('f32', (0,), op))], {'axes': [0]}, 'contract/empty-reduction', {}


# ---- bounded tensors, counting up ----

def compact(op, ts):
    for t in ts:
        for n in (1, 0, 7, 1023, 1024, 1025, 5000) if t in ('f32', 'i64') else (65, 2049):
            for density in (0, 0.3, 1):
                x, keep = array(t, (n,), op), rng(op, n, density).random(n) < density
                yield op, [('x', x), ('keep', keep)], {}, [x[keep]], {'gpu': n < 3000}


def nonzero(op, ts):
    for t in ts:
        for n in (0, 1, 70, 2500):
            x = array(t, (n,), op) * rng(op, n).integers(0, 2, n).astype(bool)
            yield op, [('x', x)], {}, [np.flatnonzero(x).astype(np.int32)], {'out': 'i32'}


def fill_rest(op, ts):
    for t in ts:
        x = array(t, (70,), op)
        yield op, [('x', x)], {'value': 3.0}, [x], {}


def iota(op, ts):
    for t, dtype in (('i32', np.int32), ('u32', np.uint32), ('f32', np.float32), ('i64', np.int64)):
        for n, start, step in [(0, 0, 1), (1, 5, 3), (1000, -7 if t != 'u32' else 7, 2)]:
            yield op, [], {'count': n, 'start': start, 'step': step, 'type': '"%s"' % t}, [(start + step * np.arange(n)).astype(dtype)], {'out': t}


def one_hot(op, ts):
    for t in ('i32', 'u32', 'i64'):
        for shape in [(), (5,), (2, 0), (3, 4)]:
            i = array(t, shape, op, low=0, high=6)
            for axis in range(len(shape)):
                yield op, [('indices', i)], {'depth': 5, 'axis': axis}, [np.moveaxis(i[..., None] == np.arange(5), -1, axis).astype(np.float32)], {'out': 'f32'}
            yield op, [('indices', i)], {'depth': 5}, [(i[..., None] == np.arange(5)).astype(np.float32)], {'out': 'f32'}


OPS = {'fft': transform, 'inverse_fft': transform, 'real_fft': transform, 'inverse_real_fft': transform, 'convolve1d': convolve1d,
       'random_uniform': random_uniform, 'random_normal': random_normal, 'dropout': dropout, 'histogram': histogram, 'reduce_median': reduce_median,
       'compact': compact, 'nonzero': nonzero, 'fill_rest': fill_rest, 'iota': iota, 'one_hot': one_hot}
