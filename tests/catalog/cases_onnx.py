"""Cases of the ops that carry ONNX's names and parameters: the formulas of its operator list, written again over NumPy in f64."""
import itertools
from fractions import Fraction
from math import ceil, floor

import numpy as np

from arrays import PAIRS, TYPES, array, wide

HALF = ((3e-3, 3e-3), (3e-3, 3e-3), (1, 1))
CLOSE = ((3e-6, 3e-6), (3e-5, 3e-6), (1e-6, 1e-6))


def close(t):
    return HALF if t == 'f16' else CLOSE


def mod(op, ts):
    for t in ts:
        for shapes in PAIRS[:9] + [((65,), (65,))]:
            a, b = array(t, shapes[0], op), array(t, shapes[1], op, 'b')
            b = np.where(b == 0, np.ones_like(b), b).astype(b.dtype)
            for fmod in (False, True):
                with np.errstate(all='ignore'):
                    want = (np.fmod if fmod else np.mod)(wide(a), wide(b)) if t[0] == 'f' else (np.fmod if fmod else np.mod)(a, b)
                tolerance = ((1e-3, 1e-3), (1e-3, 1e-3), (1, 1)) if t == 'f16' else ((1.3e-7, 1e-6), (5e-7, 2e-6), (1e-12, 1e-12))
                yield op, [('a', a), ('b', b)], {'fmod': fmod}, [np.asarray(want)], {'tolerance': tolerance, 'wide': t == 'f32'}
    a = np.array([5, -5, 5, -5, 1e30, 0.5, -0.5, np.inf, 1, np.nan, 0, -2.5, 0.3], np.float32)
    b = np.array([3, 3, -3, -3, 3, np.inf, np.inf, 2, 0, 1, 5, -1e-3, 0.1], np.float32)
    with np.errstate(all='ignore'):
        yield op, [('a', a), ('b', b)], {}, [np.mod(a, b)], {'gpu': False, 'tolerance': ((2e-7, 0), (0, 0), (0, 0))}
        yield op, [('a', a), ('b', b)], {'fmod': True}, [np.fmod(a, b)], {'gpu': False}


def bitwise(op, ts):
    how = {'bitwise_and': np.bitwise_and, 'bitwise_or': np.bitwise_or, 'bitwise_xor': np.bitwise_xor}
    for t in ts:
        if op == 'bitwise_not':
            x = array(t, (70,), op)
            yield op, [('x', x)], {}, [~x], {}
            continue
        for shapes in PAIRS[:9]:
            a, b = array(t, shapes[0], op), array(t, shapes[1], op, 'b')
            yield op, [('a', a), ('b', b)], {}, [np.asarray(how[op](a, b))], {}


def bit_shift(op, ts):
    for t in ts:
        bits = np.iinfo(TYPES[t]).bits
        a = array(t, (5, bits + 3), op)
        b = np.arange(bits + 3).astype(a.dtype)
        for direction in ('LEFT', 'RIGHT'):
            want = [[(int(v) << k if direction == 'LEFT' else int(v) >> k) % 2 ** bits for k, v in enumerate(row)] for row in a]
            yield op, [('a', a), ('b', b)], {'direction': direction}, [np.array(want, a.dtype)], {}


def activation(op, ts):
    for t in ts:
        x = array(t, (3, 67), op)
        v = wide(x)
        if op == 'celu':
            for alpha in (1.0, 0.25, 3.0):
                yield op, [('x', x)], {'alpha': alpha}, [np.maximum(v, 0) + np.minimum(0, alpha * np.expm1(v / alpha))], {'tolerance': close(t), 'wide': t == 'f32'}
        elif op == 'thresholded_relu':
            for alpha in (1.0, -0.5, 2.0):
                yield op, [('x', x)], {'alpha': alpha}, [np.where(x > alpha, x, 0).astype(x.dtype)], {}
        else:
            for lambd, bias in ((0.5, 0.0), (1.5, 1.5), (0.0, 0.25)):
                want = np.where(v < -lambd, v + bias, np.where(v > lambd, v - bias, 0))
                yield op, [('x', x)], {'lambd': lambd, 'bias': bias}, [want], {'tolerance': HALF if t == 'f16' else 'rounded', 'wide': t == 'f32'}


def hardmax(op, ts):
    for t in ts:
        for shape, axis in [((5,), None), ((3, 4), 0), ((2, 3, 70), 1), ((2, 3, 70), 2), ((0, 3), 1)]:
            x = np.round(array(t, shape, op))
            k = len(shape) - 1 if axis is None else axis
            want = np.zeros_like(x)
            if x.size:
                np.put_along_axis(want, np.expand_dims(x.argmax(k), k), 1, k)
            yield op, [('x', x)], {} if axis is None else {'axis': axis}, [want], {}


def blocks(op, ts):
    for t in ts:
        for n, c, h, w, b in [(1, 2, 2, 3, 2), (2, 1, 3, 1, 3), (1, 3, 4, 4, 1), (0, 1, 2, 2, 2)]:
            if op == 'space_to_depth':
                x = array(t, (n, c, h * b, w * b), op)
                want = x.reshape(n, c, h, b, w, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h, w)
                yield op, [('x', x)], {'blocksize': b}, [np.ascontiguousarray(want)], {}
                continue
            x = array(t, (n, c * b * b, h, w), op)
            dcr = x.reshape(n, b, b, c, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c, h * b, w * b)
            crd = x.reshape(n, c, b, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c, h * b, w * b)
            yield op, [('x', x)], {'blocksize': b}, [np.ascontiguousarray(dcr)], {}
            yield op, [('x', x)], {'blocksize': b, 'mode': 'CRD'}, [np.ascontiguousarray(crd)], {}
    yield op, [('x', array('f32', (1, 3, 3, 3), op))], {'blocksize': 2}, 'contract/not-divisible', {}


def normalization(op, ts):
    for t in ts:
        if op == 'lp_normalization':
            for shape, axis, p in [((5,), None, 2), ((3, 4), 0, 1), ((2, 3, 70), 1, 2), ((2, 3, 70), 2, 1)]:
                x = array(t, shape, op)
                if len(shape) == 2:
                    x[:, 1] = 0
                k = len(shape) - 1 if axis is None else axis
                length = (np.abs(wide(x)) ** p).sum(k, keepdims=True) ** (1 / p)
                want = np.where(length == 0, 0, wide(x) / np.where(length == 0, 1, length))
                yield op, [('x', x)], dict({'p': p}, **({} if axis is None else {'axis': axis})), [want], {'tolerance': close(t), 'wide': t == 'f32'}
        elif op == 'mean_variance_normalization':
            for shape, axes in [((2, 3, 4, 5), None), ((3, 7), [0]), ((6,), [0])]:
                x = array(t, shape, op)
                k = tuple(axes or (0, 2, 3))
                want = (wide(x) - wide(x).mean(k, keepdims=True)) / (wide(x).std(k, keepdims=True) + 1e-9)
                yield op, [('x', x)], {'axes': axes} if axes else {}, [want], {'tolerance': ((1e-2, 1e-2), (1e-2, 1e-2), (1, 1)) if t == 'f16' else ((1e-5, 1e-5), (3e-5, 1e-5), (1e-6, 1e-6)), 'wide': t == 'f32'}
        else:
            for shape, size in [((2, 5, 3, 2), 3), ((1, 7, 4), 4), ((3, 2), 5), ((1, 1, 2, 2), 1)]:
                x = array(t, shape, op, low=-3, high=3)
                total = np.zeros(shape)
                for c in range(shape[1]):
                    lo, hi = max(0, c - (size - 1) // 2), min(shape[1], c + size // 2 + 1)
                    total[:, c] = (wide(x)[:, lo:hi] ** 2).sum(1)
                params = {'size': size, 'alpha': 0.125, 'beta': 0.5, 'bias': 2.0}
                yield op, [('x', x)], params, [wide(x) / (2 + 0.125 / size * total) ** 0.5], {'tolerance': close(t), 'wide': t == 'f32'}


def place(j, n, m, scale, transform):
    half = Fraction(1, 2)
    if transform == 'align_corners':
        return Fraction(j * (n - 1), max(m - 1, 1))
    if transform == 'asymmetric':
        return j / scale
    if transform == 'pytorch_half_pixel' and m == 1:
        return Fraction(0)
    at = (j + half) / scale - half
    return at + n * half * (1 - m / (n * scale)) if transform == 'half_pixel_symmetric' else at


def weights(n, m, scale, mode='nearest', transform='half_pixel', nearest='round_prefer_floor', a=-0.75, exclude=False, antialias=False):
    """Row j: what element j of the result takes of each of the n."""
    w = np.zeros((m, n))
    for j in range(m):
        at = place(j, n, m, scale, transform)
        if mode == 'nearest':
            k = {'round_prefer_floor': ceil(at - Fraction(1, 2)), 'round_prefer_ceil': floor(at + Fraction(1, 2)), 'floor': floor(at), 'ceil': ceil(at)}[nearest]
            w[j, min(max(k, 0), n - 1)] = 1
            continue
        stretch = max(1, 1 / scale) if antialias else 1
        for k in range(floor(at - 2 * stretch) - 1, ceil(at + 2 * stretch) + 2):
            d = float(abs(k - at) / stretch)
            if mode == 'linear':
                part = max(0.0, 1 - d)
            else:
                part = (a + 2) * d ** 3 - (a + 3) * d ** 2 + 1 if d <= 1 else a * d ** 3 - 5 * a * d ** 2 + 8 * a * d - 4 * a if d < 2 else 0.0
            if 0 <= k < n or not exclude:
                w[j, min(max(k, 0), n - 1)] += part
        if exclude or antialias:
            w[j] /= w[j].sum()
    return w


WAYS = [('nearest', 'half_pixel', 'round_prefer_floor'), ('nearest', 'asymmetric', 'floor'), ('nearest', 'asymmetric', 'ceil'), ('nearest', 'half_pixel', 'round_prefer_ceil'), ('nearest', 'align_corners', 'round_prefer_floor'),
        ('linear', 'half_pixel', None), ('linear', 'align_corners', None), ('linear', 'asymmetric', None), ('linear', 'pytorch_half_pixel', None), ('cubic', 'half_pixel', None), ('cubic', 'align_corners', None), ('cubic', 'asymmetric', None)]


def resize_weights(op, ts):
    for (mode, transform, nearest), (n, m), (exclude, antialias) in itertools.product(WAYS, [(1, 1), (4, 8), (8, 4), (7, 3), (3, 7), (5, 1), (20, 6)], [(False, False), (True, False), (False, True)]):
        if mode == 'nearest' and (exclude or antialias):
            continue
        params = {'n': n, 'm': m, 'mode': mode, 'coordinate_transformation_mode': transform, 'exclude_outside': exclude, 'antialias': antialias}
        if nearest:
            params['nearest_mode'] = nearest
        yield op, [], params, [weights(n, m, Fraction(m, n), mode, transform, nearest, -0.75, exclude, antialias)], {'tolerance': ((2e-6, 2e-6), (2e-6, 2e-6), (1e-7, 1e-7)), 'out': 'f32', 'wide': True, 'gpu': (n + m) % 2 == 0}
    yield op, [], {'n': 5, 'm': 3, 'scale': 0.6500000357627869, 'mode': 'linear', 'coordinate_transformation_mode': 'half_pixel_symmetric'}, [weights(5, 3, Fraction(13, 20), 'linear', 'half_pixel_symmetric')], {'tolerance': ((2e-6, 2e-6), (2e-6, 2e-6), (1, 1)), 'out': 'f32'}


def resize(op, ts):
    for t in ts:
        for k, (mode, transform, nearest) in enumerate(WAYS):
            x = array(t, (2, 3, 5, 4), op)
            axes = [[2, 3], [1, 2], [3, 0]][k % 3]
            n = [x.shape[a] for a in axes]
            params = {'mode': mode, 'coordinate_transformation_mode': transform}
            if nearest:
                params['nearest_mode'] = nearest
            if axes != [2, 3]:
                params['axes'] = axes
            if k % 2:
                scales = [Fraction(2), Fraction(1, 2)]
                params['scales'] = [2.0, 0.5]
                m = [int(n[0] * 2), int(n[1] * 0.5)]
            else:
                m = [7, 3]
                scales = [Fraction(m[0], n[0]), Fraction(m[1], n[1])]
                params['sizes'] = m
            rows, columns = (weights(n[d], m[d], scales[d], mode, transform, nearest) for d in (0, 1))
            want = np.moveaxis(np.tensordot(rows, wide(x), (1, axes[0])), 0, axes[0])
            want = np.moveaxis(np.tensordot(columns, want, (1, axes[1])), 0, axes[1])
            yield op, [('x', x)], params, [want], {'tolerance': ((1e-2, 3e-2), (1e-2, 3e-2), (1, 1)) if t == 'f16' else ((3e-6, 3e-5), (1e-5, 5e-5), (1e-5, 1e-5)), 'wide': t == 'f32'}
    yield op, [('x', array('f32', (1, 1, 2, 2), op))], {}, 'contract/where-false', {}


def scatter_reduce(op, ts):
    for t in ts:
        for k, (shape, m, axis) in enumerate([((5,), 3, 0), ((4, 3), 9, 0), ((3, 6, 2), 20, 1), ((2, 7), 0, 1)]):
            low = 0 if t == 'u32' else -2
            x, at = array(t, shape, op, low=low, high=2), shape[:axis] + (m,) + shape[axis + 1:]
            u, n = array(t, at, op, 'u', low=low, high=2), shape[axis]
            i = array(('i32', 'u32', 'i64')[k % 3], at, op, low=0 if k % 3 == 1 else -n, high=n - 1)
            grid = list(np.indices(at))
            grid[axis] = np.where(i.astype(np.int64) < 0, i.astype(np.int64) + n, i.astype(np.int64))
            for word, how in (('mul', np.multiply), ('min', np.minimum), ('max', np.maximum)):
                want = wide(x).copy()
                how.at(want, tuple(grid), wide(u))
                yield op, [('x', x), ('indices', i), ('updates', u)], {'axis': axis, 'reduction': word}, [want], {'tolerance': ((1e-2, 1e-3), (1e-2, 1e-3), (1, 1)) if t == 'f16' else 'sum', 'wide': t == 'f32'}


OPS = {'mod': mod, 'bitwise_and': bitwise, 'bitwise_or': bitwise, 'bitwise_xor': bitwise, 'bitwise_not': bitwise, 'bit_shift': bit_shift,
       'celu': activation, 'thresholded_relu': activation, 'shrink': activation, 'hardmax': hardmax, 'depth_to_space': blocks, 'space_to_depth': blocks,
       'lp_normalization': normalization, 'mean_variance_normalization': normalization, 'local_response_normalization': normalization,
       'resize_weights': resize_weights, 'resize': resize, 'scatter_reduce': scatter_reduce}
