"""Cases of the ops that order, select by rank, scatter and look through windows."""
import numpy as np

from arrays import array, is_float, wide


def ordered(x, axis, descending):
    """Positions in order: stable, NaN last, both zeros equal."""
    x = np.moveaxis(x, axis, -1)
    out = np.empty(x.shape, np.int32)
    for at in np.ndindex(x.shape[:-1]):
        row = x[at]
        nan = np.isnan(row) if row.dtype.kind == 'f' else np.zeros(row.shape, bool)
        live = np.flatnonzero(~nan)
        ranks = np.unique(row[live], return_inverse=True)[1] if live.size else live
        out[at] = np.concatenate([live[np.argsort(-ranks if descending else ranks, kind='stable')], np.flatnonzero(nan)])
    return np.moveaxis(out, -1, axis)


# Shape, axis: each kernel, its limits, block edges of the merge sort, inner dimensions, empty ones.
SORTS = [((1,), 0), ((2,), 0), ((0,), 0), ((3, 0), 0), ((0, 3), 1), ((33,), 0), ((32, 3), 0), ((5, 33, 2), 1), ((1023,), 0), ((1024, 2), 0), ((2, 1025), 1), ((2049,), 0),
         ((3, 4097), 1), ((2, 3000, 3), 1), ((300, 7), 1), ((65, 64), 0)]


def rows(t, shape, op):
    x = array(t, shape, op, special=is_float(t))
    few = array(t, shape, op, 'few', low=-3 if t[0] in 'fi' else 0, high=3)
    return [x, np.rint(few).astype(x.dtype) if is_float(t) else few]


def sort(op, ts):
    for t in ts:
        for k, (shape, axis) in enumerate(SORTS if t in ('f32', 'i64') else SORTS[k_of(t)::3]):
            for x, descending in zip(rows(t, shape, op), (False, True) if k % 2 else (True, False)):
                order = ordered(x, axis, descending)
                want = order if op == 'arg_sort' else np.take_along_axis(x, order, axis)
                small = x.size <= 2000
                yield op, [('x', x)], {'axis': axis, 'descending': descending}, [want], {'gpu': t != 'f16' or k % 2 == 0, 'wide': t == 'f32' and small}


def k_of(t):
    return len(t) % 3


def top_k(op, ts):
    for t in ts:
        for shape, k in [((5,), 1), ((7,), 7), ((3, 40), 4), ((2, 0, 5), 2), ((2, 2, 1500), 3), ((1,), 1)]:
            for x, largest in zip(rows(t, shape, op), (True, False)):
                order = ordered(x, -1, largest)[..., :k]
                yield op, [('x', x)], {'k': k, 'largest': largest}, [np.take_along_axis(x, order, -1), order], {'wide': t == 'f32'}
        for shape, axis, k in [((4, 3), 0, 3), ((2, 9, 3), 1, 4)]:
            x = array(t, shape, op)
            order = ordered(x, axis, True).take(range(k), axis)
            yield op, [('x', x)], {'k': k, 'axis': axis}, [np.take_along_axis(x, order, axis), order], {}
    yield op, [('x', array('f32', (3,), op))], {'k': 4}, 'contract/', {}


def scatter_add(op, ts):
    for t in ts:
        for k, (shape, m, axis) in enumerate([((5,), 3, 0), ((4, 3), 9, 0), ((3, 6, 2), 40, 1), ((2, 7), 0, 1), ((0,), 0, 0), ((30,), 1025, 0), ((2, 3, 2), 3000, 1), ((100, 2), 33, 0)]):
            x = array(t, shape, op, low=-4 if t[0] in 'fi' else 0, high=4)
            at = list(shape)
            at[axis] = m
            updates = whole(array(t, tuple(at), op, 'u', low=-4 if t[0] in 'fi' else 0, high=4), t == 'f16' or m > 1000)
            x = whole(x, t == 'f16')
            n = shape[axis]
            index = ('i32', 'u32', 'i64')[k % 3]
            places = array(index, tuple(at), op, low=0 if index == 'u32' else -n, high=max(n - 1, 0))
            want = wide(x).copy()
            grid = list(np.indices(places.shape))
            grid[axis] = np.where(places.astype(np.int64) < 0, places.astype(np.int64) + n, places.astype(np.int64))
            np.add.at(want, tuple(grid), wide(updates))
            yield op, [('x', x), ('indices', places), ('updates', updates)], {'axis': axis}, [want], {'tolerance': 'sum', 'wide': t == 'f32'}
            if t == 'f32': # an unordered kernel, where there is one
                yield op, [('x', x), ('indices', places), ('updates', updates)], {'axis': axis}, [want], {'tolerance': 'sum', 'tier': 'fast'}


WINDOWS = [((1,), 1), ((5,), 5), ((9,), 3), ((40,), 16), ((40,), 17), ((300,), 64), ((300,), 100), ((3, 50), 33), ((2, 0, 9), 4), ((2, 3, 20), 7), ((1000,), 511)]


def whole(x, really):
    """Whole numbers, whose sums are exact also in f16."""
    return np.rint(x) if really and x.dtype.kind == 'f' else x


def view(x, w):
    return np.lib.stride_tricks.sliding_window_view(x, w, axis=-1)


def windowed(op, ts):
    for t in ts:
        for k, (shape, w) in enumerate(WINDOWS if t == 'f32' else WINDOWS[k_of(t)::3]):
            low, high = (-9 if t[0] in 'fi' else 0), 9
            x = array(t, shape, op, low=low, high=high)
            x = whole(x, k % 2 or t == 'f16')
            v = view(x, w)
            if op in ('windowed_max', 'windowed_min'):
                want, tolerance = (v.max(-1) if op == 'windowed_max' else v.min(-1)), 'exact'
            elif op in ('windowed_arg_max', 'windowed_arg_min'):
                want = ((v.argmax(-1) if op == 'windowed_arg_max' else v.argmin(-1)) + np.arange(v.shape[-2])).astype(np.int32)
                tolerance = 'exact'
            else:
                want = wide(v).sum(-1, dtype=None if is_float(t) else v.dtype) if op == 'windowed_sum' else wide(v).mean(-1)
                tolerance = 'sum'
            yield op, [('x', x)], {'w': w}, [np.asarray(want)], {'tolerance': tolerance, 'wide': t == 'f32'}
    yield op, [('x', array('f32', (3,), op))], {'w': 4}, 'contract/', {}


def unfold(op, ts):
    for t in ts:
        for shape, w, stride in [((1,), 1, 1), ((9,), 3, 1), ((9,), 3, 2), ((10,), 3, 4), ((2, 3, 20), 7, 5), ((2, 0, 9), 4, 1), ((300,), 65, 1)]:
            x = array(t, shape, op)
            yield op, [('x', x)], {'w': w, 'stride': stride}, [np.ascontiguousarray(view(x, w)[..., ::stride, :])], {}


def overlap_add(op, ts):
    for t in ts:
        for lead, n, w, stride in [((), 1, 1, 1), ((), 9, 3, 1), ((), 10, 3, 2), ((2, 3), 20, 7, 5), ((2,), 11, 2, 4), ((0,), 5, 2, 1), ((), 200, 65, 1)]:
            m = (n - w) // stride + 1
            x = whole(array(t, lead + (m, w), op, low=-4 if t[0] in 'fi' else 0, high=4), t == 'f16')
            want = np.zeros(lead + (n,), wide(x).dtype)
            for j in range(m):
                want[..., j * stride:j * stride + w] += wide(x)[..., j, :]
            yield op, [('x', x)], {'n': n, 'stride': stride}, [want], {'tolerance': 'sum', 'wide': t == 'f32'}


OPS = {'arg_sort': sort, 'sort': sort, 'top_k': top_k, 'scatter_add': scatter_add, 'windowed_max': windowed, 'windowed_min': windowed,
       'windowed_arg_max': windowed, 'windowed_arg_min': windowed, 'windowed_sum': windowed, 'windowed_mean': windowed, 'unfold': unfold, 'overlap_add': overlap_add}
