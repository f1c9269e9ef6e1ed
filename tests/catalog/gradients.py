"""The cases of ops that are transposes or gradients of others. What comes out is written the other way round than in the
ops: forward, over what is read, adding to where it was read from."""
import itertools

import numpy as np

from arrays import TYPES, array, wide

LINEAR = ((3e-6, 2e-5), (4e-6, 4e-5), (1e-11, 1e-11))
HALF = ((1e-2, 3e-2), (1e-2, 3e-2), (1, 1))


def places(size, window, strides, dilations, padding):
    """For one axis: (o, r, v): element r of window o lies at v of x."""
    for o in range(size[1]):
        for r in range(window):
            v = o * strides + r * dilations - padding
            if 0 <= v < size[0]:
                yield o, r, v


def sizes(shape, window, params):
    """Rows and columns that a window over `shape` gives."""
    st, di, pa = params.get('strides', [1, 1]), params.get('dilations', [1, 1]), params.get('padding', [0] * 4)
    out = []
    for i in range(2):
        n = (shape[i] + pa[2 * i] + pa[2 * i + 1] - (window[i] - 1) * di[i] - 1) / st[i]
        out.append(int(np.ceil(n) if params.get('round_up', (0, 0))[i] else np.floor(n)) + 1)
    return out


def pairs(shape, out, window, params):
    """(o, q), (r, s), (v, u): window, tap, element."""
    st, di, pa = params.get('strides', [1, 1]), params.get('dilations', [1, 1]), params.get('padding', [0] * 4)
    rows = list(places((shape[0], out[0]), window[0], st[0], di[0], pa[0]))
    columns = list(places((shape[1], out[1]), window[1], st[1], di[1], pa[2]))
    for (o, r, v), (q, s, u) in itertools.product(rows, columns):
        yield (o, q), (r, s), (v, u)


WINDOWS = [((1, 1, 4, 4), [4, 4], {}), ((2, 3, 7, 6), [3, 2], {}), ((1, 2, 9, 8), [3, 3], {'strides': [2, 3]}), ((1, 1, 9, 9), [2, 2], {'dilations': [2, 3]}), ((1, 1, 9, 9), [3, 2], {'dilations': [2, 3], 'strides': [3, 2]}),
           ((2, 2, 5, 5), [3, 3], {'padding': [1, 1, 1, 1]}), ((1, 1, 6, 7), [3, 3], {'strides': [2, 2], 'padding': [1, 0, 0, 1]}), ((1, 1, 6, 7), [3, 3], {'strides': [2, 2], 'round_up': [1, 1]}),
           ((3, 1, 16, 17), [1, 1], {'strides': [4, 4]}), ((1, 1, 3, 3), [2, 2], {'padding': [3, 0, 0, 3]}), ((1, 2, 20, 30), [20, 30], {})]


def pool2d_gradient(op, Case):
    for t in ('f32', 'f16'):
        for (shape, window, params), mean in itertools.product(WINDOWS, (True, False)):
            out = sizes(shape[2:], window, params)
            g = array(t, shape[:2] + tuple(out), op)
            count = np.zeros(out)
            for at, _, _ in pairs(shape[2:], out, window, params):
                count[at] += 1
            want = np.zeros(shape)
            for (o, q), _, (v, u) in pairs(shape[2:], out, window, params):
                want[:, :, v, u] += wide(g)[:, :, o, q] / (count[o, q] if mean else 1)
            yield Case(op, [('gradient', g)], dict(params, window=window, size=list(shape[2:]), mean=mean), [want], LINEAR if t == 'f32' else HALF, wide=t == 'f32')


def chosen(x, out, window, params):
    """Flat places of the greatest elements, the first of equal ones; -1 where there is none."""
    best = np.full(x.shape[:2] + tuple(out), -np.inf)
    at = np.full(best.shape, -1, np.int32)
    for (o, q), _, (v, u) in sorted(pairs(x.shape[2:], out, window, params)):
        more = (wide(x)[:, :, v, u] > best[:, :, o, q]) | (at[:, :, o, q] < 0)
        best[:, :, o, q] = np.where(more, wide(x)[:, :, v, u], best[:, :, o, q])
        at[:, :, o, q] = np.where(more, v * x.shape[3] + u, at[:, :, o, q])
    return at


def max_pool(op, Case):
    for t in ('f32', 'f16', 'i32', 'u8') if op == 'max_pool2d_indices' else ('f32', 'f16'):
        for k, (shape, window, params) in enumerate(WINDOWS):
            x = array(t, shape, op)
            if k % 2 and x.dtype.kind == 'f':
                x = np.round(x)  # ties
            out = sizes(shape[2:], window, params)
            at = chosen(x, out, window, params)
            if op == 'max_pool2d_indices':
                yield Case(op, [('x', x)], dict(params, window=window), [at], gpu=t in ('f32', 'i32'))
                continue
            g = array(t, at.shape, op, 'g')
            want = np.zeros((shape[0], shape[1], shape[2] * shape[3]))
            for n, c, o, q in np.ndindex(*at.shape):
                if at[n, c, o, q] >= 0:
                    want[n, c, at[n, c, o, q]] += wide(g)[n, c, o, q]
            yield Case(op, [('x', x), ('gradient', g)], dict(params, window=window), [want.reshape(shape)], LINEAR if t == 'f32' else HALF, wide=t == 'f32')


FILTERS = [((1, 1, 5, 5), (1, 1, 3, 3), {}), ((2, 3, 7, 6), (4, 3, 3, 2), {}), ((1, 2, 9, 8), (3, 2, 3, 3), {'strides': [2, 3]}), ((1, 1, 9, 9), (2, 1, 2, 2), {'dilations': [2, 3]}),
           ((2, 2, 5, 5), (2, 2, 3, 3), {'padding': [1, 1, 1, 1]}), ((1, 4, 6, 7), (6, 2, 3, 3), {'groups': 2, 'padding': [1, 0, 0, 1]}), ((1, 3, 6, 6), (3, 1, 1, 1), {'groups': 3}),
           ((2, 5, 9, 8), (20, 5, 3, 3), {'padding': [1, 1, 1, 1]}), ((2, 10, 7, 8), (40, 5, 3, 2), {'groups': 2, 'strides': [2, 1], 'padding': [0, 1, 2, 0]}), ((3, 20, 5, 5), (17, 20, 1, 1), {}),
           ((1, 3, 16, 15), (65, 3, 3, 3), {'dilations': [2, 1], 'strides': [1, 2], 'padding': [2, 2, 1, 1]}), ((8, 18, 12, 11), (16, 18, 1, 3), {})]


def filters(t, op, todo):
    """Each with its array of patches: n, o's group, c, r, s, rows, columns."""
    for shape, kernel, params in todo:
        x = array(t, shape, op, low=-2, high=2)
        out = sizes(shape[2:], kernel[2:], params)
        groups = params.get('groups', 1)
        patches = np.zeros((shape[0], groups, shape[1] // groups, kernel[2], kernel[3], out[0], out[1]))
        split = wide(x).reshape(shape[0], groups, shape[1] // groups, shape[2], shape[3])
        for (o, q), (r, s), (v, u) in pairs(shape[2:], out, kernel[2:], params):
            patches[:, :, :, r, s, o, q] = split[:, :, :, v, u]
        yield x, kernel, params, groups, out, patches


def conv2d_filter_gradient(op, Case):
    for t in ('f32', 'f16'):
        for x, kernel, params, groups, out, patches in filters(t, op, FILTERS):
            g = array(t, (x.shape[0], kernel[0], out[0], out[1]), op, 'g', low=-2, high=2)
            want = np.einsum('ngcrsyx,ngoyx->gocrs', patches, wide(g).reshape(x.shape[0], groups, -1, out[0], out[1])).reshape(kernel)
            yield Case(op, [('x', x), ('gradient', g)], dict(params, window=list(kernel[2:])), [want], ((3e-6, 2e-4), (3e-6, 2e-4), (1e-11, 1e-10)) if t == 'f32' else ((2e-2, 1e-1), (2e-2, 1e-1), (1, 1)), wide=t == 'f32')


def large_conv2d(op, Case):
    """Shapes that the tiled kernels take."""
    for t in ('f32', 'f16'):
        for k, (x, kernel, params, groups, out, patches) in enumerate(filters(t, op, FILTERS[7:])):
            f = array(t, kernel, op, 'f', low=-1, high=1)
            b = array(t, (kernel[0],), op, 'b')
            y = np.einsum('ngcrsyx,gocrs->ngoyx', patches, wide(f).reshape((groups, -1) + kernel[1:])).reshape(x.shape[0], kernel[0], out[0], out[1])
            inputs = [('x', x), ('filter', f)] + ([('bias', b)] if k % 2 else [])
            yield Case(op, inputs, params, [y + wide(b)[:, None, None] if k % 2 else y], ((3e-6, 1e-4), (3e-6, 1e-4), (1e-11, 1e-10)) if t == 'f32' else ((2e-2, 1e-1), (2e-2, 1e-1), (1, 1)), wide=t == 'f32')


def large_conv_transpose2d(op, Case):
    for t in ('f32', 'f16'):
        for k, (shape, kernel, params) in enumerate([((2, 5, 6, 7), (5, 20, 3, 3), {}), ((1, 6, 5, 6), (6, 17, 3, 2), {'strides': [2, 2], 'padding': [1, 0, 0, 1], 'output_padding': [1, 1]}), ((2, 8, 6, 5), (8, 65, 3, 3), {'strides': [2, 3], 'padding': [1, 1, 1, 1]}),
                                                     ((1, 6, 9, 8), (6, 16, 3, 3), {'dilations': [2, 1], 'strides': [1, 2], 'groups': 2}), ((1, 4, 5, 5), (4, 16, 1, 1), {'strides': [2, 2], 'output_padding': [1, 1]}), ((1, 3, 4, 4), (3, 16, 2, 2), {'strides': [2, 2], 'dilations': [2, 3]})]):
            x, f = array(t, shape, op, low=-2, high=2), array(t, kernel, op, 'f', low=-2, high=2)
            groups, st, di = params.get('groups', 1), params.get('strides', [1, 1]), params.get('dilations', [1, 1])
            pa, more = params.get('padding', [0] * 4), params.get('output_padding', [0, 0])
            out = [(shape[2 + i] - 1) * st[i] + (kernel[2 + i] - 1) * di[i] + 1 + more[i] - pa[2 * i] - pa[2 * i + 1] for i in range(2)]
            want = np.zeros((shape[0], groups, kernel[1], out[0], out[1]))
            a, w = wide(x).reshape(shape[0], groups, -1, shape[2], shape[3]), wide(f).reshape((groups, -1) + kernel[1:])
            for (o, q), (r, s), (v, u) in pairs(out, shape[2:], kernel[2:], params):
                want[:, :, :, v, u] += np.einsum('ngc,gco->ngo', a[..., o, q], w[..., r, s])
            yield Case(op, [('x', x), ('filter', f)], params, [want.reshape(shape[0], -1, out[0], out[1])], ((3e-6, 1e-4), (3e-6, 1e-4), (1e-11, 1e-10)) if t == 'f32' else ((2e-2, 1e-1), (2e-2, 1e-1), (1, 1)), wide=t == 'f32')


def transposed(forward, shape, g):
    """The transpose of a map of places: forward says for the array of the places of x which of them each result reads."""
    at = forward(np.arange(int(np.prod(shape))).reshape(shape))
    want = np.zeros(int(np.prod(shape)))
    np.add.at(want, at[at >= 0], wide(g)[at >= 0])
    return want.reshape(shape)


def pad_gradient(op, Case):
    margins = [((3,), [1], [2]), ((3,), [0], [0]), ((4, 5), [1, 0], [2, 3]), ((2, 3, 4), [1, 2, 0], [0, 1, 3]), ((257,), [3], [5]), ((1, 2), [2, 1], [1, 1]), ((3, 3, 3, 3), [1, 0, 1, 0], [0, 1, 0, 1]), ((2, 2, 2, 2, 2), [1] * 5, [1] * 5), ((5, 6), [4, 5], [4, 5])]
    for t in ('f32', 'f16'):
        for shape, before, after in margins:
            for mode, np_mode in (('constant', 'constant'), ('edge', 'edge'), ('reflection', 'reflect')):
                if mode == 'reflection' and any(b >= n or a >= n for b, a, n in zip(before, after, shape)):
                    continue
                g = array(t, tuple(n + b + a for n, b, a in zip(shape, before, after)), op)
                extra = {'constant_values': -1} if mode == 'constant' else {}
                want = transposed(lambda x: np.pad(x, list(zip(before, after)), np_mode, **extra), shape, g)
                yield Case(op, [('gradient', g)], {'beginning_padding': before, 'ending_padding': after, 'mode': mode}, [want], LINEAR if t == 'f32' else HALF, wide=t == 'f32')
    yield Case(op, [('gradient', array('f32', (3,)))], {'beginning_padding': [2], 'ending_padding': [2]}, 'contract/')


def tile_gradient(op, Case):
    for t in ('f32', 'f16'):
        for shape, times in [((5,), [2]), ((257,), [1]), ((2, 3), [3, 2]), ((2, 1, 3), [1, 4, 2]), ((), []), ((0, 2), [3, 2]), ((1, 2, 1, 2, 1), [2, 1, 2, 1, 3]), ((2,), [300])]:
            g = array(t, tuple(n * k for n, k in zip(shape, times)), op)
            yield Case(op, [('gradient', g)], {'repetitions': times}, [transposed(lambda x: np.tile(x, times), shape, g)], LINEAR if t == 'f32' else ((1e-2, 2e-1), (1e-2, 2e-1), (1, 1)), wide=t == 'f32')
    yield Case(op, [('gradient', array('f32', (5,)))], {'repetitions': [2]}, 'contract/not-divisible')


def sum_blocks(op, Case):
    for t in ('f32', 'f16'):
        for shape, parts in [((5,), (1,)), ((6,), (3,)), ((4, 6), (1, 1)), ((4, 6), (2, 3)), ((4, 6), (4, 1)), ((2, 3, 4), (1, 3, 1)), ((0, 3), (1, 3)), ((257,), (257,)), ((1000, 3), (2, 1)), ((), ())]:
            x = array(t, shape, op, low=-2, high=2)
            v = wide(x).reshape([k for n, m in zip(shape, parts) for k in (m, n // m)])
            yield Case(op, [('x', x)], {'shape': list(parts)}, [np.asarray(v.sum(tuple(range(1, 2 * len(shape), 2))))], LINEAR if t == 'f32' else ((1e-2, 2e-1), (1e-2, 2e-1), (1, 1)), wide=t == 'f32')


def resample2d_gradient(op, Case):
    for t in ('f32', 'f16'):
        for shape, axes, out in [((1, 1, 2, 3), [2, 3], [4, 6]), ((2, 3, 5, 4), [2, 3], [7, 9]), ((1, 2, 6, 8), [2, 3], [3, 4]), ((2, 4, 5, 3), [1, 2], [8, 5]), ((1, 1, 3, 3), [2, 3], [3, 3]), ((1, 1, 7, 1), [2, 3], [2, 5]), ((1, 1, 2, 9), [3, 2], [31, 1]), ((1, 1, 1, 70001), [2, 3], [1, 100003])]:
            for mode in ('nearest_neighbor', 'linear'):
                full = list(shape)
                full[axes[0]], full[axes[1]] = out
                g = array(t, tuple(full), op)
                want = wide(g)
                for a, m in zip(axes, out):
                    n, c, rows = shape[a], np.arange(m), np.moveaxis(want, a, 0)
                    sums = np.zeros((n,) + rows.shape[1:])
                    v = np.clip((c + 0.5) * n / m - 0.5, 0, n - 1) if mode == 'linear' else ((2 * c + 1) * n - 1) // (2 * m)
                    low, part = v.astype(int), (v - v.astype(int)).reshape(-1, 1, 1, 1)
                    np.add.at(sums, low, rows * (1 - part))
                    np.add.at(sums, np.minimum(low + 1, n - 1), rows * part)
                    want = np.moveaxis(sums, 0, a)
                yield Case(op, [('gradient', g)], {'axes': axes, 'size': [shape[axes[0]], shape[axes[1]]], 'mode': mode}, [want.copy()], ((4e-6, 3e-5), (6e-6, 5e-5), (1e-5, 1e-5)) if t == 'f32' else HALF, wide=t == 'f32')


def index(t, shape, n, *key):
    return array(t, shape, key, low=0 if t == 'u32' else -n, high=n - 1)


def scatter_nd_add(op, Case):
    for t in ('f32', 'f16'):
        for k, (shape, lead, n) in enumerate([((5,), (3,), 1), ((4, 5), (3,), 1), ((4, 5), (2, 9), 2), ((2, 3, 4), (7,), 2), ((2, 3, 4, 2), (), 3), ((2, 3), (0,), 1), ((300, 2), (257,), 1), ((3, 70), (500,), 1)]):
            x = array(t, shape, op)
            for it in ('i32', 'u32', 'i64'):
                idx = np.stack([index(it, lead, shape[d], op, k, d) for d in range(n)], -1)
                u = array(t, lead + shape[n:], op, 'u', low=-2, high=2)
                want = wide(x)
                for at in np.ndindex(*lead):
                    want[tuple(int(v) for v in idx[at])] += wide(u)[at]
                yield Case(op, [('x', x), ('indices', idx), ('updates', u)], {}, [want], ((4e-6, 1e-4), (6e-6, 1e-4), (1e-11, 1e-10)) if t == 'f32' else ((2e-2, 3e-1), (2e-2, 3e-1), (1, 1)), gpu=it == 'i64', wide=t == 'f32')


OPS = {'pool2d_gradient': pool2d_gradient, 'max_pool2d_indices': max_pool, 'max_pool2d_gradient': max_pool, 'conv2d_filter_gradient': conv2d_filter_gradient, 'pad_gradient': pad_gradient, 'tile_gradient': tile_gradient,
       'sum_blocks': sum_blocks, 'resample2d_gradient': resample2d_gradient, 'scatter_nd_add': scatter_nd_add, 'conv2d_nchw': large_conv2d, 'conv_transpose2d_nchw': large_conv_transpose2d}


def cases(op, Case):
    return list(OPS[op](op, Case)) if op in OPS else []
