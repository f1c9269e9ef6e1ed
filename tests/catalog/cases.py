"""The cases of every catalog op: inputs, parameters, and what NumPy says comes out."""
import itertools
import re
import zlib

import numpy as np

import cases_onnx
import cases_order
import cases_signal
import gradients
import learning
import reference
import sequences
from arrays import PAIRS, SHAPES, TYPES, array, is_float, name, wide

# Relative and absolute error on the oracle, on a GPU, and in f64.
EXACT = ((0, 0), (0, 0), (0, 0))
ROUNDED = ((1.3e-7, 0), (5e-7, 1e-37), (1e-12, 1e-30))
SMOOTH = ((4e-7, 1e-7), (2e-5, 2e-6), (1e-12, 1e-12))
SUMMED = ((2e-6, 2e-5), (3e-6, 4e-5), (1e-11, 1e-11))


class Case:
    def __init__(self, op, inputs, params, expect, tolerance=EXACT, gpu=True, wide=False, out=None, tier=None):
        self.op, self.inputs, self.params, self.expect = op, inputs, params, expect
        self.tolerance, self.gpu, self.wide, self.out, self.tier = tolerance, gpu, wide, out, tier
        if self.uses('f16') and tolerance is not EXACT:
            self.tolerance = tuple((max(r, 3e-3), max(a, 6e-3 if op == 'gelu' else 2e-3)) for r, a in tolerance[:2]) + ((1e-3, 1e-3),)

    def uses(self, t):
        return any(name(a) == t for _, a in self.inputs) or self.params.get('type') == t

    def out_dtype(self, want):
        if self.out:
            return np.dtype(TYPES[self.out])
        if want.dtype == np.float64:
            return self.inputs[0][1].dtype if self.inputs[0][1].dtype.kind == 'f' else np.dtype(np.float32)
        return want.dtype

    def title(self):
        return '%s%s %s%s' % (self.op, ' ' + self.tier if self.tier else '', ' '.join('%s[%s]' % (name(a), ','.join(map(str, a.shape))) for _, a in self.inputs),
                            ''.join(' %s=%s' % kv for kv in self.params.items()))


# The stages of a splat step: tests/splat/step.c holds them against plain C (tests/splat/oracle.h), pixels and gradients included.
ELSEWHERE = {'sort_pairs', 'splat_adam', 'splat_emit', 'splat_loss', 'splat_noise', 'splat_project', 'splat_project_backward', 'splat_ranges', 'splat_raster',
             'splat_raster_backward', 'splat_regularise', 'splat_statistics'}


def arr(x):
    """Expected results are arrays, also of rank 0."""
    return np.asarray(x)


def keep_gpu(op, t, k, n):
    """Each op runs a rotating part of its shapes on the GPU: together the ops cover all of them."""
    start = zlib.crc32((op + t).encode())
    return (k + start) % n < (6 if t == 'f32' else 2)


def dtypes(signature, var='T'):
    m = re.search(r'\b%s in ((?:\w+, )*\w+)' % var, signature)
    return m.group(1).split(', ') if m else []


def some(seq, t, full=('f32',)):
    """Everything for f32, and every third for the others."""
    return seq if t in full else seq[len(t) % 3::3]


# ---- element by element ----

UNARY = {  # NumPy function, tolerance, domain, special values on the oracle
    'abs': (np.abs, EXACT, None, True), 'neg': (lambda x: (0 - x.astype(object)).astype(x.dtype) if x.dtype.kind == 'u' else -x, EXACT, None, True),
    'identity': (lambda x: x, EXACT, None, True), 'exp': (np.exp, SMOOTH, (-20, 20), True),
    'log': (np.log, SMOOTH, (1e-6, 1e6), False), 'sqrt': (np.sqrt, ROUNDED, (0, 1e6), False),
    'tanh': (np.tanh, SMOOTH, (-30, 30), False), 'sigmoid': (lambda x: 1 / (1 + np.exp(-x)), SMOOTH, (-30, 30), False),
    'relu': (lambda x: np.maximum(x, x.dtype.type(0)), EXACT, None, False), 'erf': (reference.erf, SMOOTH, (-6, 6), False),
    'logical_not': (lambda x: x == 0, EXACT, None, False),
    'ceil': (np.ceil, EXACT, None, True), 'floor': (np.floor, EXACT, None, True), 'round_even': (np.rint, EXACT, None, True),
    'cos': (np.cos, SMOOTH, (-3, 3), False), 'sin': (np.sin, SMOOTH, (-3, 3), False), 'tan': (np.tan, SMOOTH, (-1, 1), False),
    'reciprocal': (lambda x: 1 / x, ROUNDED, (0.01, 100), False), 'sign': (np.sign, EXACT, None, False),
    'is_nan': (np.isnan, EXACT, None, True), 'is_infinite': (np.isinf, EXACT, None, True),
    'softsign': (lambda x: x / (1 + np.abs(x)), SMOOTH, None, False), 'softplus': (lambda x: np.logaddexp(0, x), SMOOTH, (-30, 30), False),
    'hard_swish': (lambda x: x * np.clip(x + 3, 0, 6) / 6, SMOOTH, None, False),
    'atan': (np.arctan, SMOOTH, (-50, 50), False), 'asin': (np.arcsin, SMOOTH, (-0.99, 0.99), False), 'acos': (np.arccos, SMOOTH, (-0.99, 0.99), False),
    'sinh': (np.sinh, SMOOTH, (-20, 20), False), 'cosh': (np.cosh, SMOOTH, (-20, 20), False), 'asinh': (np.arcsinh, SMOOTH, (-50, 50), False),
    'acosh': (np.arccosh, SMOOTH, (1.5, 50), False), 'atanh': (np.arctanh, SMOOTH, (-0.99, 0.99), False),
    'gelu': (lambda x: x * (1 + reference.erf(x / np.sqrt(2))) / 2, ((1e-6, 1e-6), (2e-5, 4e-6), (1e-6, 1e-7)), (-6, 6), False),
}
CARRY = {'abs', 'neg', 'identity', 'relu', 'logical_not', 'ceil', 'floor', 'round_even', 'sign', 'is_nan', 'is_infinite'}


def unary(op, signature, **params):
    fn, tolerance, domain, special = UNARY[op]
    bare = re.search(r'\(\w+: (\w+)\[', signature).group(1)
    operand = re.search(r'\((\w+):', signature).group(1)
    if op == 'gelu':
        x = array('f32', (300,), op, 'tanh', low=-8, high=8)
        v = wide(x)
        yield Case(op, [('x', x)], {'approximate': 'tanh'}, [v * (1 + np.tanh(np.sqrt(2 / np.pi) * (v + 0.044715 * v ** 3))) / 2], ((1e-6, 1e-6), (2e-5, 4e-6), (1e-6, 1e-7)), wide=True)
    for t in dtypes(signature, bare):
        shapes = some(SHAPES, t)
        for k, shape in enumerate(shapes):
            low, high = domain if domain and is_float(t) else (None, None)
            if t == 'f16' and domain:
                low, high = max(low, -10), min(high, 10)
            gpu = keep_gpu(op, t, k, len(shapes))
            x = array(t, shape, op, low=low, high=high, special=special and is_float(t) and op in CARRY and not gpu)
            with np.errstate(all='ignore'):
                want = arr(fn(x if op in CARRY else wide(x)))
            exact = op in CARRY
            yield Case(op, [(operand, x)], {}, [want], EXACT if exact else tolerance, gpu=gpu, wide=t == 'f32')


def int_div(a, b):
    """Truncation toward zero; x / 0 is x."""
    if a.dtype.kind == 'f':
        return a / b
    q = [x if y == 0 else abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a.ravel().tolist(), b.ravel().tolist())]
    return wrap(q, a)


def wrap(values, like):
    bits = like.dtype.itemsize * 8
    out = [int(v) % (1 << bits) for v in values]
    return np.array(out, dtype='u%d' % like.dtype.itemsize).view(like.dtype).reshape(like.shape)


def power(a, b):
    if a.dtype.kind == 'f':
        return np.power(a, b)
    m = 1 << (a.dtype.itemsize * 8)
    out = []
    for x, y in zip(a.ravel().tolist(), b.ravel().tolist()):
        if y >= 0:
            out.append(pow(x, y, m))
        else:
            out.append({1: 1, -1: 1 if y % 2 == 0 else -1}.get(x, 0))
    return wrap(out, a)


BINARY = {
    'add': (np.add, ROUNDED), 'sub': (np.subtract, ROUNDED), 'mul': (np.multiply, ROUNDED), 'div': (int_div, ROUNDED),
    'max': (np.maximum, EXACT), 'min': (np.minimum, EXACT), 'pow': (power, ((1e-6, 1e-12), (1e-4, 1e-6), (1e-11, 1e-12))),
    'equal': (np.equal, EXACT), 'not_equal': (np.not_equal, EXACT), 'greater': (np.greater, EXACT), 'lesser': (np.less, EXACT),
    'greater_or_equal': (np.greater_equal, EXACT), 'lesser_or_equal': (np.less_equal, EXACT),
    'logical_and': (np.logical_and, EXACT), 'logical_or': (np.logical_or, EXACT), 'logical_xor': (np.logical_xor, EXACT),
}


def binary(op, signature):
    fn, tolerance = BINARY[op]
    var = re.search(r'\(\w+: (\w+)\[', signature).group(1)
    for t in dtypes(signature, var):
        pairs = some(PAIRS, t)
        for k, (s, u) in enumerate(pairs):
            low = high = None
            if op == 'pow':
                low, high = (0.1, 4) if is_float(t) else (0 if t[0] == 'u' else -5, 12)
            a, b = array(t, s, op, 'a', low=low, high=high), array(t, u, op, 'b', low=low, high=high)
            if k % 2 and op in ('equal', 'not_equal', 'greater_or_equal', 'lesser_or_equal') and not is_float(t):
                a, b = a % a.dtype.type(3) if t != 'bool' else a, b % b.dtype.type(3) if t != 'bool' else b
            if op == 'pow' and t == 'f32' and k % 3 == 0:
                b = np.round(b)
                a = -a
            if op == 'div' and is_float(t):
                b = arr(np.where(np.abs(b) < 0.1, b.dtype.type(0.5), b)).astype(b.dtype)
            exact = tolerance is EXACT
            x, y = (a, b) if exact else (wide(a), wide(b))
            x, y = np.broadcast_arrays(x, y)
            with np.errstate(all='ignore'):
                want = arr(fn(np.ascontiguousarray(x).reshape(x.shape), np.ascontiguousarray(y).reshape(y.shape)))
            yield Case(op, [('a', a), ('b', b)], {}, [want], tolerance, gpu=keep_gpu(op, t, k, len(pairs)), wide=t == 'f32')
    yield Case(op, [('a', array(dtypes(signature, var)[0], (2, 3))), ('b', array(dtypes(signature, var)[0], (4,)))], {}, 'contract/not-broadcastable')


# ---- with parameters, element by element ----

ACTIVATIONS = {
    'clamp': [({}, lambda x: x), ({'min_value': -1.5, 'max_value': 2.0}, lambda x: np.clip(x, -1.5, 2)), ({'min_value': 0.0}, lambda x: np.maximum(x, 0))],
    'linear': [({}, lambda x: x), ({'alpha': 2.0, 'beta': -0.5}, lambda x: 2 * x - 0.5)],
    'elu': [({}, lambda x: np.where(x > 0, x, np.expm1(x))), ({'alpha': 0.25}, lambda x: np.where(x > 0, x, 0.25 * np.expm1(x)))],
    'leaky_relu': [({}, lambda x: np.where(x > 0, x, np.float64(np.float32(0.01)) * x)), ({'alpha': 0.5}, lambda x: np.where(x > 0, x, 0.5 * x))],
    'hard_sigmoid': [({}, lambda x: np.clip(np.float64(np.float32(0.2)) * x + 0.5, 0, 1)), ({'alpha': 0.25, 'beta': 0.75}, lambda x: np.clip(0.25 * x + 0.75, 0, 1))],
}


def activation(op, signature):
    for t in dtypes(signature):
        for k, shape in enumerate([(), (65,), (0, 2), (3, 4, 5), (1024,)]):
            for params, fn in ACTIVATIONS[op]:
                if op == 'clamp' and not is_float(t):
                    params = {key: abs(int(v)) for key, v in params.items()}
                    x = array(t, shape, op)
                    low, high = params.get('min_value'), params.get('max_value')
                    want = arr(np.clip(x, x.dtype.type(low) if low is not None else None, x.dtype.type(high) if high is not None else None) if params else x)
                    if low is not None and high is not None and low > high:
                        continue
                    yield Case(op, [('x', x)], params, [want])
                    continue
                x = array(t, shape, op)
                want = arr(fn(wide(x)))
                yield Case(op, [('x', x)], params, [want], SMOOTH, gpu=t == 'f32', wide=t == 'f32')


def where(op, signature):
    shapes = [((), (), ()), ((3,), (3,), (3,)), ((4, 1), (1, 5), ()), ((257,), (1,), (257,)), ((2, 3, 4), (4,), (3, 1)), ((0,), (1,), (0,)), ((64, 64), (64,), (64, 1)), ((), (2, 3), (3,)),
              ((1, 2, 1, 2, 1), (2, 1, 2, 1, 2), (1,))]
    for t in dtypes(signature):
        for k, (c, s, u) in enumerate(some(shapes, t)):
            for b in ('bool', 'u8'):
                cond, x, y = array(b, c, op, 'c', low=None if b == 'bool' else 0, high=None if b == 'bool' else 2), array(t, s, op, special=True), array(t, u, op, 'f', special=True)
                yield Case(op, [('condition', cond), ('true_value', x), ('false_value', y)], {}, [arr(np.where(cond != 0, x, y))], gpu=k % 2 == 0)


# ---- reductions ----

AXES = [((16384,), None), ((20001,), [0]), ((2, 16385), [1]), ((40000, 3), [0]), ((5,), None), ((257,), None), ((1000,), [0]), ((), None), ((), []), ((3, 4), [0]), ((3, 4), [1]), ((3, 4), [0, 1]), ((3, 4), [1, 0]), ((3, 4), []), ((2, 3, 4), [1]),
        ((2, 3, 4), [0, 2]), ((2, 3, 4, 5), [1, 3]), ((2, 3, 4, 5), [0, 2]), ((2, 3, 2, 3, 2), [0, 2, 4]), ((2, 3, 2, 3, 2), [1, 2, 3]), ((300, 3), [0]),
        ((3, 300), [1]), ((1, 65, 1), [1]), ((64, 64), [0]), ((2000, 70), [0]), ((2, 300, 33), [1]), ((17, 40, 40), [0, 1]), ((70, 2500), [1]), ((9, 130), [1])]
EMPTY = [((0,), None), ((3, 0), [1]), ((0, 3), [1]), ((2, 0, 3), [1])]
SOFT = {'reduce_log_sum', 'reduce_log_sum_exp', 'reduce_l2'}


def total(x, axes):
    if x.dtype.kind in 'iu':
        return np.add.reduce(x, axis=axes, dtype=x.dtype)
    return np.add.reduce(x, axis=axes)


def multiply(x, axes):
    return np.multiply.reduce(x, axis=axes, dtype=x.dtype)


REDUCE = {  # function of the array and a tuple of axes; must the reduction be non-empty; tolerance
    'reduce_sum': (total, False, SUMMED), 'reduce_mean': (lambda x, a: np.mean(x, axis=a), True, SUMMED),
    'reduce_max': (lambda x, a: np.max(x, axis=a), True, EXACT), 'reduce_min': (lambda x, a: np.min(x, axis=a), True, EXACT),
    'reduce_product': (multiply, False, SUMMED), 'reduce_l1': (lambda x, a: total(np.abs(x), a), False, SUMMED),
    'reduce_sum_square': (lambda x, a: total(x * x, a), False, ((3e-6, 1e-4), (3e-6, 1e-4), (1e-11, 1e-11))),
    'reduce_l2': (lambda x, a: np.sqrt(total(x * x, a)), False, SUMMED),
    'reduce_log_sum': (lambda x, a: np.log(total(x, a)), False, SUMMED),
    'reduce_log_sum_exp': (lambda x, a: np.log(total(np.exp(x), a)), True, SUMMED),
}


def rounding(x, axes):
    """What the order of a long f32 sum may move: partial sums of n terms walk as far as the root of the sum of squares, and NumPy's own pairwise
    sum of 16,385 normal terms is off by up to half an ulp of that on each of its 14 levels."""
    return 8 * 2.0 ** -24 * float(np.sqrt(np.max(np.add.reduce(wide(x) ** 2, axis=axes), initial=0)))


def reduce_case(op, x, axes, keep):
    fn, nonempty, tolerance = REDUCE[op]
    if op == 'reduce_sum' and is_float(str(x.dtype).replace('float', 'f')):
        more = rounding(x, tuple(range(x.ndim)) if axes is None else tuple(axes))
        tolerance = tuple((r, max(a, more) if a > 1e-9 else a) for r, a in tolerance)
    given = tuple(range(x.ndim)) if axes is None else tuple(axes)
    params = {} if axes is None else {'axes': axes}
    if keep:
        params['keep_dimensions'] = True
    with np.errstate(all='ignore'):
        want = arr(fn(wide(x) if tolerance is not EXACT else x, given))
    if keep:
        want = want.reshape([1 if i in given else n for i, n in enumerate(x.shape)])
    return params, want, tolerance


def reduction(op, signature):
    for t in dtypes(signature):
        list_ = some(AXES, t)
        for k, (shape, axes) in enumerate(list_):
            low, high = None, None
            if op == 'reduce_product':
                low, high = (0.9, 1.1) if is_float(t) else (None, None)
            if op in ('reduce_log_sum',):
                low, high = 0.1, 2
            if op == 'reduce_log_sum_exp':
                low, high = -3, 3
            x = array(t, shape, op, low=low, high=high)
            if t == 'f16' and x.size > 100:
                continue
            for keep in (False, True):
                params, want, tolerance = reduce_case(op, x, axes, keep)
                yield Case(op, [('x', x)], params, [want], tolerance, gpu=keep == (k % 2 == 0) and (t == 'f32' or k % 2 == 0), wide=t == 'f32')
        for shape, axes in EMPTY:
            x = array(t, shape, op)
            n = int(np.prod([shape[a] for a in (range(len(shape)) if axes is None else axes)]))
            if n == 0 and REDUCE[op][1]:
                if op != 'reduce_mean':
                    yield Case(op, [('x', x)], {} if axes is None else {'axes': axes}, 'contract/empty-reduction', gpu=False)
                continue
            params, want, tolerance = reduce_case(op, x, axes, False)
            yield Case(op, [('x', x)], params, [want], tolerance, gpu=t == 'f32')
    yield Case(op, [('x', array('f32', (2, 3)))], {'axes': [2]}, 'contract/axis-out-of-range')
    yield Case(op, [('x', array('f32', (2, 3)))], {'axes': [1, 1]}, 'contract/axis-repeated')


def arg(op, signature):
    fn = np.argmax if op == 'arg_max' else np.argmin
    for t in dtypes(signature):
        for k, (shape, axis) in enumerate([((5,), 0), ((257,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 3, 4, 5), 2), ((2, 1, 3, 2, 3), 4), ((0, 3), 1), ((1,), 0)]):
            x = array(t, shape, op, low=None if is_float(t) else 0, high=None if is_float(t) else 4) if k % 2 else array(t, shape, op)
            for out in ('i32', 'i64'):
                for keep in (False, True):
                    params = {'axis': axis, 'output_data_type': out}
                    if keep:
                        params['keep_dimensions'] = True
                    want = arr(np.expand_dims(fn(x, axis=axis), axis) if keep else fn(x, axis=axis)).astype(TYPES[out])
                    yield Case(op, [('x', x)], params, [want], gpu=keep == (k % 2 == 0))


def softmax(op, signature):
    for t in dtypes(signature):
        for k, (shape, axis) in enumerate([((5,), 0), ((257,), 0), ((1000,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 3, 4, 5), 3), ((70, 65), 1), ((65, 70), 0), ((2, 2, 2, 2, 2), 2), ((0, 3), 1), ((3, 0), 1), ((1, 1), 0), ((2, 20000), 1), ((20000, 3), 0), ((40, 33), 0), ((9, 3000), 1), ((300, 40), 0), ((3, 9000, 2), 1)]):
            x = wide(array(t, shape, op)).astype(TYPES[t])
            with np.errstate(all='ignore'):
                e = np.exp(wide(x) - (np.max(wide(x), axis=axis, keepdims=True) if shape[axis] else 0))
                want = e / e.sum(axis=axis, keepdims=True)
            yield Case(op, [('x', x)], {'axis': axis}, [arr(want)] if shape[axis] else 'contract/empty-reduction', ((2e-6, 1e-7), (1e-5, 1e-6), (1e-12, 1e-12)), wide=t == 'f32')


def matmul(op, signature):
    shapes = [((1, 1), (1, 1)), ((2, 3), (3, 4)), ((5, 7), (7, 1)), ((1, 7), (7, 5)), ((17, 33), (33, 16)), ((64, 64), (64, 64)), ((65, 63), (63, 65)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)),
              ((2, 1, 3, 4), (3, 4, 2)), ((2, 1, 17, 4), (1, 3, 4, 18)), ((2, 2, 2, 3, 4), (4, 3)), ((3, 0), (0, 4)), ((0, 3), (3, 2)), ((16, 0), (0, 16)), ((128, 100), (100, 70)), ((2, 3, 0), (2, 0, 2)),
              ((32, 4), (4, 64)), ((65, 12), (12, 132)), ((2, 1, 40, 20), (3, 20, 68)), ((3, 129, 8), (8, 260))]
    for t in dtypes(signature):
        for k, (s, u) in enumerate(some(shapes, t)):
            a, b = array(t, s, op, 'a'), array(t, u, op, 'b')
            yield Case(op, [('a', a), ('b', b)], {}, [arr(wide(a) @ wide(b))], ((1e-5, 1e-4), (1e-5, 2e-4), (1e-11, 1e-10)), wide=t == 'f32', gpu=t == 'f32')
    yield Case(op, [('a', array('f32', (2, 3))), ('b', array('f32', (4, 2)))], {}, 'contract/')


# ---- movement ----

def transpose(op, signature):
    orders = [((), None), ((5,), None), ((3, 4), None), ((3, 4), [0, 1]), ((3, 4), [1, 0]), ((0, 4), [1, 0]), ((65, 33), [1, 0]), ((32, 32), None), ((33, 1000), [1, 0]), ((257, 64), None)]
    orders += [((2, 3, 4), list(p)) for p in itertools.permutations(range(3))] + [((2, 3, 2, 3, 4), p) for p in ([4, 3, 2, 1, 0], [0, 2, 1, 4, 3], [3, 4, 0, 1, 2])] + [((2, 3, 4, 5), [0, 2, 3, 1])]
    for t in dtypes(signature):
        for k, (shape, p) in enumerate(some(orders, t)):
            x = array(t, shape, op, special=True)
            yield Case(op, [('x', x)], {} if p is None else {'permutation': p}, [arr(np.transpose(x, p))], gpu=keep_gpu(op, t, k, len(orders)))
    yield Case(op, [('x', array('f32', (2, 3)))], {'permutation': [0, 0]}, 'contract/axis-repeated')


def reshape(op, signature):
    for t in dtypes(signature):
        for shape, to in some([((), [1, 1]), ((6,), [2, 3]), ((2, 3), [6]), ((1,), []), ((2, 3, 4), [4, 6]), ((0, 3), [3, 0, 2]), ((257,), [257, 1]), ((2, 3, 4, 5), [5, 4, 3, 2, 1])], t):
            x = array(t, shape, op, special=True)
            yield Case(op, [('x', x)], {'new_shape': to}, [x.reshape(to)])
    yield Case(op, [('x', array('f32', (2, 3)))], {'new_shape': [5]}, 'contract/shape-mismatch')


def expand(op, signature):
    for t in dtypes(signature):
        for shape, to in some([((), []), ((), [3]), ((1,), [257]), ((3,), [2, 3]), ((3, 1), [3, 4]), ((2, 1, 3), [4, 2, 5, 3]), ((1, 2, 1, 2, 1), [3, 2, 3, 2, 3]), ((1,), [0]), ((0,), [2, 0]), ((4, 4), [4, 4])], t):
            x = array(t, shape, op, special=True)
            yield Case(op, [('x', x)], {'new_shape': to}, [np.broadcast_to(x, to).copy()])
    yield Case(op, [('x', array('f32', (2,)))], {'new_shape': [3]}, 'contract/not-broadcastable')


def sum_to_shape(op, signature):
    for t in dtypes(signature):
        for shape, to in some([((), []), ((3,), []), ((2, 3), [3]), ((3, 4), [3, 1]), ((4, 2, 5, 3), [2, 1, 3]), ((300, 2), [1, 2]), ((0, 2), [2]), ((2, 3), [2, 3])], t):
            x = array(t, shape, op)
            pad = [1] * (x.ndim - len(to)) + to
            axes = tuple(i for i in range(x.ndim) if pad[i] == 1 and shape[i] != 1)
            yield Case(op, [('x', x)], {'shape': to}, [arr(total(wide(x), axes)).reshape(to)], SUMMED)


def fill(op, signature):
    for t in ('f32', 'f16', 'i32', 'u32', 'i8', 'u8', 'i64', 'u64', 'bool'):
        for shape, value in [([], 1.0), ([65], 0.0), ([2, 3], 7.0), ([0], 1.0)]:
            yield Case(op, [], {'shape': shape, 'value': value, 'type': t}, [np.full(shape, value, TYPES[t])], out=t)
    yield Case(op, [], {'shape': [3], 'value': -2.0, 'type': 'i64'}, [np.full(3, -2, np.int64)], out='i64')
    yield Case(op, [], {'shape': [3], 'value': -2.5, 'type': 'f32'}, [np.full(3, -2.5, np.float32)], out='f32')


def concat(op, signature):
    lists = [([(3,)], 0), ([(3,), (2,)], 0), ([(2, 3), (2, 1), (2, 4)], 1), ([(2, 3), (1, 3)], 0), ([(2, 0), (2, 3)], 1), ([(2, 3, 4), (2, 2, 4), (2, 1, 4), (2, 3, 4)], 1), ([(257,), (64,), (65,)], 0),
             ([(1, 2, 3, 2, 1), (1, 2, 3, 2, 2)], 4), ([(0,), (0,)], 0)]
    for t in dtypes(signature):
        for shapes, axis in some(lists, t):
            xs = [array(t, s, op, i, special=True) for i, s in enumerate(shapes)]
            yield Case(op, [('xs', x) for x in xs], {'axis': axis}, [np.concatenate(xs, axis)])
    yield Case(op, [('xs', array('f32', (2, 3))), ('xs', array('f32', (3, 3)))], {'axis': 1}, 'contract/shape-mismatch')


def split(op, signature):
    for t in dtypes(signature):
        for shape, sizes, axis in some([((5,), [5], 0), ((5,), [2, 3], 0), ((2, 6), [1, 2, 3], 1), ((6, 2), [3, 3], 0), ((2, 3, 4), [1, 0, 2], 1), ((300,), [64, 65, 171], 0), ((1, 2, 3, 2, 4), [1, 3], 4)], t):
            x = array(t, shape, op, special=True)
            yield Case(op, [('x', x)], {'splits': sizes, 'axis': axis}, [p.copy() for p in np.split(x, np.cumsum(sizes)[:-1], axis)])
    yield Case(op, [('x', array('f32', (5,)))], {'splits': [2, 2]}, 'contract/shape-mismatch')


def slice_(op, signature):
    windows = [((5,), [1], [3], None), ((5,), [0], [5], [2]), ((257,), [1], [255], [3]), ((4, 5), [1, 2], [2, 3], None), ((4, 5), [0, 0], [4, 5], [3, 2]), ((2, 3, 4), [1, 0, 1], [1, 3, 2], None), ((5,), [5], [0], None),
               ((2, 3, 4, 5), [0, 1, 1, 0], [2, 2, 3, 5], [1, 2, 2, 4]), ((2, 3, 2, 3, 4), [1, 1, 0, 2, 0], [1, 2, 2, 1, 4], [1, 1, 1, 1, 2]), ((), [], [], None)]
    for t in dtypes(signature):
        for shape, starts, sizes, steps in some(windows, t):
            x = array(t, shape, op, special=True)
            at = tuple(slice(s, s + n, st) for s, n, st in zip(starts, sizes, steps or [1] * len(starts)))
            params = {'starts': starts, 'sizes': sizes}
            if steps:
                params['strides'] = steps
            yield Case(op, [('x', x)], params, [arr(x[at]).copy()])
    yield Case(op, [('x', array('f32', (5,)))], {'starts': [3], 'sizes': [3]}, 'contract/shape-mismatch')


def place(op, signature):
    windows = [((5,), [1], (3,), None), ((5,), [0], (3,), [2]), ((4, 5), [1, 2], (2, 3), None), ((2, 3, 4), [0, 1, 0], (2, 2, 2), [1, 1, 2]), ((3,), [0], (0,), None), ((257,), [1], (128,), [2])]
    for t in dtypes(signature):
        for shape, starts, size, steps in some(windows, t):
            x, u = array(t, shape, op, special=True), array(t, size, op, 'u')
            want = x.copy()
            want[tuple(slice(s, s + n * st, st) for s, n, st in zip(starts, size, steps or [1] * len(starts)))] = u
            params = {'starts': starts}
            if steps:
                params['strides'] = steps
            yield Case(op, [('x', x), ('update', u)], params, [want])


def gather(op, signature):
    for t in dtypes(signature):
        for k, (shape, picks, axis) in enumerate(some([((5,), (), 0), ((5,), (3,), 0), ((300, 2), (257,), 0), ((4, 5), (2, 3), 0), ((4, 5), (2, 3), 1), ((2, 3, 4), (2,), 1), ((2, 3, 4), (2, 2), 2), ((2, 3, 2, 3), (4, 1), 3), ((4, 5), (0,), 0)], t)):
            x = array(t, shape, op, special=True)
            for it in ('i32', 'u32', 'i64'):
                n = shape[axis]
                idx = array(it, picks, op, 'i', low=0 if it == 'u32' else -n, high=n - 1)
                yield Case(op, [('x', x), ('indices', idx)], {'axis': axis}, [arr(np.take(x, idx.astype(np.int64) % n if idx.size else idx.astype(np.int64), axis))], gpu=it == 'i64' or k % 2 == 0)


def pad(op, signature):
    margins = [((3,), [1], [2]), ((3,), [0], [0]), ((4, 5), [1, 0], [2, 3]), ((2, 3, 4), [1, 2, 0], [0, 1, 3]), ((257,), [3], [5]), ((3, 3, 3, 3), [1, 0, 1, 0], [0, 1, 0, 1]), ((2, 2, 2, 2, 2), [1, 1, 1, 1, 1], [1, 1, 1, 1, 1])]
    for t in dtypes(signature):
        for shape, before, after in some(margins, t):
            for mode, np_mode in (('constant', 'constant'), ('edge', 'edge'), ('reflection', 'reflect')):
                if mode == 'reflection' and any(b >= n or a >= n for b, a, n in zip(before, after, shape)):
                    continue
                x = array(t, shape, op, special=mode != 'constant')
                params = {'beginning_padding': before, 'ending_padding': after, 'mode': mode}
                extra = {}
                if mode == 'constant':
                    params['value'] = 1.0 if t == 'bool' else 3.0
                    extra = {'constant_values': x.dtype.type(params['value'])}
                yield Case(op, [('x', x)], params, [np.pad(x, list(zip(before, after)), np_mode, **extra)])
    x = array('f32', (0, 2), op)
    yield Case(op, [('x', x)], {'beginning_padding': [1, 0], 'ending_padding': [1, 0], 'value': 2.0}, [np.full((2, 2), 2, np.float32)])
    yield Case(op, [('x', array('f32', (3,)))], {'beginning_padding': [3], 'ending_padding': [0], 'mode': 'reflection'}, 'contract/')


def cast(op, signature):
    all_types = ('f32', 'f16', 'i32', 'u32', 'i8', 'u8', 'i64', 'u64', 'bool')
    for k, (t, to) in enumerate(itertools.product(all_types, all_types)):
        for shape in [(257,), ()] if k % 3 else [(2, 3, 4), (0,)]:
            x = array(t, shape, op, low=-3e10 if t == 'f32' else -300 if t == 'f16' else None, high=3e10 if t == 'f32' else 300 if t == 'f16' else None)
            if is_float(t) and x.size > 20:
                x.reshape(-1)[9:19] = [1.5, -1.5, 2.5, -0.5, 127.9, -128.9, 255.9, -3.0, 1e9 if t == 'f32' else 1e4, 0.25]
            yield Case(op, [('x', x)], {'type': to}, [arr(reference.cast(x, TYPES[to]))], ((6e-8, 0), (6e-8, 0), (1e-9, 0)) if to == 'f32' and t in ('i64', 'u64', 'i32', 'u32') else EXACT, out=to)


def triangular(op, signature):
    for t in dtypes(signature):
        for shape in [(3, 3), (2, 4), (5, 3), (2, 3, 4), (0, 3), (2, 2, 3, 3)]:
            for params, fn in (({}, np.triu), ({'upper': False}, np.tril), ({'diagonal': 1}, lambda x: np.triu(x, 1)), ({'upper': False, 'diagonal': -1}, lambda x: np.tril(x, -1))):
                x = array(t, shape, op)
                yield Case(op, [('x', x)], params, [fn(x)], gpu=t in ('f32', 'i64'))


def reverse(op, signature):
    for t in dtypes(signature):
        for shape, axes in some([((5,), None), ((257,), [0]), ((2, 3), [0]), ((2, 3), [1]), ((2, 3, 4), [0, 2]), ((2, 2, 2, 2, 3), None), ((0, 2), [1]), ((), []), ((3, 4), [])], t):
            x = array(t, shape, op, special=True)
            yield Case(op, [('x', x)], {} if axes is None else {'axes': axes}, [arr(np.flip(x, axes)).copy()], gpu=t in ('f32', 'i64', 'u8'))
    yield Case(op, [('x', array('f32', (2, 3)))], {'axes': [2]}, 'contract/where-false')


def tile(op, signature):
    for t in dtypes(signature):
        for shape, times in some([((5,), [2]), ((257,), [1]), ((2, 3), [3, 2]), ((2, 1, 3), [1, 4, 2]), ((), []), ((0, 2), [3, 2]), ((1, 2, 1, 2, 1), [2, 1, 2, 1, 3])], t):
            x = array(t, shape, op, special=True)
            yield Case(op, [('x', x)], {'repetitions': times}, [arr(np.tile(x, times))], gpu=t in ('f32', 'i64', 'u8'))


def prelu(op, signature):
    for t in dtypes(signature):
        for shape, slope in some([((5,), (5,)), ((2, 3, 4), (3, 1)), ((2, 3), ()), ((65,), (1,)), ((0, 3), (3,)), ((2, 2, 3, 2, 2), (3, 1, 1))], t):
            x, a = array(t, shape, op), array(t, slope, op, 's')
            with np.errstate(all='ignore'):
                want = arr(np.where(x < 0, wide(x) * wide(a), wide(x)))
            yield Case(op, [('x', x), ('slope', a)], {}, [want], ROUNDED, gpu=t == 'f32', wide=t == 'f32')


def indices(t, shape, n, *key):
    return array(t, shape, key, low=0 if t == 'u32' else -n, high=n - 1)


def gather_elements(op, signature):
    for t in dtypes(signature):
        for k, (shape, n, axis) in enumerate(some([((5,), 3, 0), ((300,), 257, 0), ((4, 5), 2, 0), ((4, 5), 7, 1), ((2, 3, 4), 2, 1), ((2, 3, 4, 2), 5, 2), ((4, 5), 0, 0)], t)):
            x = array(t, shape, op, special=True)
            for it in ('i32', 'u32', 'i64'):
                idx = indices(it, shape[:axis] + (n,) + shape[axis + 1:], shape[axis], op, k)
                yield Case(op, [('x', x), ('indices', idx)], {'axis': axis}, [np.take_along_axis(x, idx.astype(np.int64), axis)], gpu=it == 'i64')


def gather_nd(op, signature):
    for t in dtypes(signature):
        for k, (shape, lead, n) in enumerate(some([((5,), (3,), 1), ((4, 5), (3,), 1), ((4, 5), (2, 2), 2), ((2, 3, 4), (7,), 2), ((2, 3, 4, 2), (), 3), ((2, 3), (0,), 1), ((300, 2), (257,), 1)], t)):
            x = array(t, shape, op, special=True)
            for it in ('i32', 'u32', 'i64'):
                idx = np.stack([indices(it, lead, shape[d], op, k, d) for d in range(n)], -1)
                yield Case(op, [('x', x), ('indices', idx)], {}, [arr(x[tuple(idx[..., d].astype(np.int64) for d in range(n))])], gpu=it == 'i64')


def cumulative_sum(op, signature):
    for t in dtypes(signature):
        for shape, axis in some([((5,), 0), ((257,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((2, 2, 3, 2, 2), 2), ((0, 3), 1), ((3, 0), 1), ((65, 65), 0)], t):
            x = array(t, shape, op) if t != 'f16' else array(t, shape[:1] and tuple(min(n, 9) for n in shape), op, low=-1, high=1)
            for exclusive, back in ((False, False), (True, False), (False, True), (True, True)):
                v = np.flip(wide(x), axis) if back else wide(x)
                c = np.cumsum(v, axis, dtype=v.dtype)
                if exclusive:
                    c = c - v
                params = {'axis': axis, 'exclusive': exclusive, 'reversed': back}
                yield Case(op, [('x', x)], params, [arr(np.flip(c, axis) if back else c).copy()], ((3e-6, 1e-4), (3e-6, 2e-4), (1e-11, 1e-10)), gpu=exclusive == back, wide=t == 'f32')


def windows(x, window, strides, dilations, padding, ceil, fill):
    """(N, C, rows, columns, window) with what lies outside as fill."""
    n, c, h, w = x.shape
    extent = [(k - 1) * d + 1 for k, d in zip(window, dilations)]
    size = [(h + padding[0] + padding[1] - extent[0]) / strides[0], (w + padding[2] + padding[3] - extent[1]) / strides[1]]
    size = [int(np.ceil(v) if up else np.floor(v)) + 1 for v, up in zip(size, ceil)]
    need = [(k - 1) * s + e for k, s, e in zip(size, strides, extent)]
    p = np.full((n, c, max(need[0], h + padding[0] + padding[1]), max(need[1], w + padding[2] + padding[3])), fill, x.dtype)
    p[:, :, padding[0]:padding[0] + h, padding[2]:padding[2] + w] = x
    out = np.empty((n, c, size[0], size[1], window[0] * window[1]), x.dtype)
    for r in range(window[0]):
        for s in range(window[1]):
            out[..., r * window[1] + s] = p[:, :, r * dilations[0]:r * dilations[0] + (size[0] - 1) * strides[0] + 1:strides[0], s * dilations[1]:s * dilations[1] + (size[1] - 1) * strides[1] + 1:strides[1]]
    return out


WINDOWS = [((1, 1, 4, 4), {}), ((2, 3, 7, 6), {'window': [3, 2]}), ((1, 2, 9, 8), {'window': [3, 3], 'strides': [2, 3]}), ((1, 1, 9, 9), {'window': [2, 2], 'dilations': [2, 3]}),
           ((2, 2, 5, 5), {'window': [3, 3], 'padding': [1, 1, 1, 1]}), ((1, 1, 6, 7), {'window': [3, 3], 'strides': [2, 2], 'padding': [1, 0, 0, 1]}), ((1, 1, 6, 7), {'window': [3, 3], 'strides': [2, 2], 'round_up': [1, 1]}), ((1, 1, 6, 7), {'window': [3, 4], 'strides': [2, 2], 'round_up': [1, 0]}),
           ((3, 1, 16, 17), {'window': [1, 1], 'strides': [4, 4]}), ((2, 3, 20, 30), {}), ((1, 2, 40, 21), {'window': [20, 10], 'strides': [3, 2], 'dilations': [2, 1], 'padding': [1, 0, 2, 5]})]


def pool(op, signature):
    for t in dtypes(signature):
        for shape, params in some(WINDOWS, t):
            x = array(t, shape, op)
            params = dict({'window': list(shape[2:])}, **params)
            how = (params['window'], params.get('strides', [1, 1]), params.get('dilations', [1, 1]), params.get('padding', [0] * 4), params.get('round_up', [0, 0]))
            if op == 'max_pool2d_nchw':
                want = windows(x, *how, -np.inf if is_float(t) else np.iinfo(x.dtype).min).max(-1)
            elif op == 'average_pool2d_nchw':
                want = windows(wide(x), *how, 0).sum(-1) / windows(np.ones(shape), *how, 0).sum(-1)
            else:
                want = np.sqrt((windows(wide(x), *how, 0) ** 2).sum(-1))
            yield Case(op, [('x', x)], params, [want], EXACT if op == 'max_pool2d_nchw' else SUMMED, wide=t == 'f32')


def conv2d(op, signature):
    for t in dtypes(signature):
        for k, (shape, kernel, params) in enumerate([((1, 1, 5, 5), (1, 1, 3, 3), {}), ((2, 3, 7, 6), (4, 3, 3, 2), {}), ((1, 2, 9, 8), (3, 2, 3, 3), {'strides': [2, 3]}), ((1, 1, 9, 9), (2, 1, 2, 2), {'dilations': [2, 3]}),
                                                     ((2, 2, 5, 5), (2, 2, 3, 3), {'padding': [1, 1, 1, 1]}), ((1, 4, 6, 7), (6, 2, 3, 3), {'groups': 2, 'padding': [1, 0, 0, 1]}), ((1, 3, 6, 6), (3, 1, 1, 1), {'groups': 3})]):
            x, f = array(t, shape, op, low=-2, high=2), array(t, kernel, op, 'f', low=-2, high=2)
            groups = params.get('groups', 1)
            w = windows(wide(x), kernel[2:], params.get('strides', [1, 1]), params.get('dilations', [1, 1]), params.get('padding', [0] * 4), [0, 0], 0)
            n, c, rows, columns, m = w.shape
            w = w.reshape(n, groups, c // groups, rows, columns, m)
            want = np.einsum('ngcyxm,gocm->ngoyx', w, wide(f).reshape(groups, kernel[0] // groups, c // groups, m)).reshape(n, kernel[0], rows, columns)
            inputs = [('x', x), ('filter', f)]
            if k % 2:
                b = array(t, (kernel[0],), op, 'b')
                inputs.append(('bias', b))
                want = want + wide(b)[:, None, None]
            yield Case(op, inputs, params, [want], SUMMED if t == 'f32' else ((1e-2, 2e-2), (1e-2, 2e-2), (1, 1)), wide=t == 'f32')
    yield Case(op, [('x', array('f32', (1, 3, 4, 4))), ('filter', array('f32', (2, 2, 1, 1)))], {}, 'contract/')


def turned(c, at, params, **shapes):
    """The case of an nchw op said in another layout: its operands and result turned by `shapes`, with these parameters instead."""
    inputs = [(k, np.ascontiguousarray(a.transpose(shapes[k])) if shapes.get(k) else a) for k, a in c.inputs]
    want = [np.ascontiguousarray(w.transpose(shapes['y'])) if shapes.get('y') else w for w in c.expect] if not isinstance(c.expect, str) else c.expect
    return Case(at, inputs, params, want, c.tolerance, c.gpu, c.wide)


NHWC = (0, 2, 3, 1)
FILTERS = {'conv2d': {'oihw': None, 'hwio': (2, 3, 1, 0), 'ohwi': (0, 2, 3, 1), 'ihwo': (1, 2, 3, 0)}, 'conv_transpose2d': {'iohw': None, 'hwoi': (2, 3, 1, 0), 'ohwi': (1, 2, 3, 0)}}


def pool_layouts(op, signature):
    for k, c in enumerate(pool(op + '_nchw', signature)):
        params = dict(c.params)
        up = params.pop('round_up', None)
        window = params.pop('window')
        if window != list(c.inputs[0][1].shape[2:]):
            params['window_dimensions'] = window
        if up == [1, 1]:
            params['output_shape_rounding'] = 'ceil'
        elif up or k % 3 == 0:
            params['output_sizes'] = list(c.expect[0].shape[2:])
        if k % 2:
            yield turned(c, op, dict(params, layout='nhwc'), x=NHWC, y=NHWC)
        else:
            yield turned(c, op, params)
    yield Case(op, [('x', array('f32', (1, 1, 6, 6)))], {'window_dimensions': [2, 2], 'output_sizes': [4, 5]}, 'contract/where-false')
    if op == 'average_pool2d':
        for c in pool(op + '_nchw', signature):
            x, pa = c.inputs[0][1], c.params.get('padding', [0] * 4)
            if not any(pa) or c.params.get('round_up'):
                continue
            ones = np.pad(np.ones(x.shape[2:]), [(pa[0], pa[1]), (pa[2], pa[3])]) # a window's mean counts these alone
            st, di, win = c.params.get('strides', [1, 1]), c.params.get('dilations', [1, 1]), c.params['window']
            share = np.array([[ones[r * st[0]:r * st[0] + (win[0] - 1) * di[0] + 1:di[0], q * st[1]:q * st[1] + (win[1] - 1) * di[1] + 1:di[1]].mean() for q in range(c.expect[0].shape[3])] for r in range(c.expect[0].shape[2])])
            params = dict({k: v for k, v in c.params.items() if k != 'window'}, window_dimensions=win, count_include_pad=True)
            yield Case(op, c.inputs, params, [c.expect[0] * share], c.tolerance, c.gpu, c.wide)


def convolution_layouts(op, signature):
    for k, c in enumerate((conv2d if op == 'conv2d' else conv_transpose2d)(op + '_nchw', signature)):
        for at, layout in enumerate(FILTERS[op]):
            params = dict(c.params, filter_layout=layout)
            if op == 'conv_transpose2d' and at == 1:
                params.pop('output_padding', None)
                params['output_sizes'] = list(c.expect[0].shape[2:])
            if (k + at) % 2:
                yield turned(c, op, dict(params, input_layout='nhwc'), x=NHWC, filter=FILTERS[op][layout], y=NHWC)
            else:
                yield turned(c, op, params, filter=FILTERS[op][layout])


def normal(x, axes, epsilon, scale, bias):
    """Normalised over axes, then scaled by arrays that broadcast to x."""
    v = wide(x)
    y = (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + np.float32(epsilon))
    return y * scale + bias


NORMAL = ((5e-6, 5e-6), (2e-5, 2e-5), (1e-9, 1e-9))
NORMAL_HALF = ((2e-2, 2e-2), (2e-2, 2e-2), (1, 1))


def normalization(op, signature):
    for t in dtypes(signature):
        tolerance = NORMAL if t == 'f32' else NORMAL_HALF
        shapes = {'layer_normalization': [((2, 3, 4), [1, 2]), ((2, 3, 4), [2]), ((2, 3, 4), [0, 2]), ((2, 3, 4), [2, 0]), ((2, 3, 4, 5), [3, 1, 2]), ((2, 3), []), ((5,), None), ((3, 20001), [1]), ((5, 300), [1]), ((300, 5), [0]), ((3, 4), None), ((0, 3), [1])],
                  'instance_normalization': [((2, 3, 4, 5), None), ((1, 1, 20, 20), None), ((3, 2, 1, 2), None), ((0, 2, 2, 2), None), ((2, 3, 129, 130), None), ((2, 4, 5, 3), 'nhwc'), ((3, 1, 2, 2), 'nhwc')],
                  'batch_normalization': [((2, 3, 4), 1), ((2, 3, 4), 2), ((5, 300), 1), ((300, 5), 0), ((2, 3, 4, 5), 1), ((0, 3), 1)]}[op]
        for k, (shape, axes) in enumerate(shapes):
            x = array(t, shape, op)
            params = {'epsilon': 1e-3} if k % 2 else {}
            epsilon = params.get('epsilon', 1e-5)
            inputs = [('x', x)]
            if op == 'batch_normalization':
                params['axis'] = axes
                part, spread = (shape[axes],), [-1 if i == axes else 1 for i in range(len(shape))]
                mean, variance = array(t, part, op, 'm'), np.abs(array(t, part, op, 'v')) + TYPES[t](0.5)
                inputs += [('mean', mean), ('variance', variance)]
            elif op == 'instance_normalization':
                part, spread = ((shape[3],), [-1]) if axes else ((shape[1],), [1, -1, 1, 1])
                if axes:
                    params['layout'] = axes
            else:
                given = list(range(1, len(shape))) if axes is None else axes
                if axes is not None:
                    params['axes'] = axes
                part, spread = tuple(shape[a] for a in given), [n if i in given else 1 for i, n in enumerate(shape)]
            scale = bias = np.float64(0)
            if k % 3 != 2:
                scale = array(t, part, op, 's')
                inputs.append(('scale', scale))
            if k % 3 != 1:
                bias = array(t, part, op, 'b')
                inputs.append(('bias', bias))
            turn = np.argsort(given) if op == 'layer_normalization' else range(np.ndim(scale))
            scale = wide(scale).transpose(turn).reshape(spread) if k % 3 != 2 else 1.0
            bias = wide(bias).transpose(turn if op == 'layer_normalization' else range(np.ndim(bias))).reshape(spread) if k % 3 != 1 else 0.0
            if op == 'batch_normalization':
                want = (wide(x) - wide(mean).reshape(spread)) / np.sqrt(wide(variance).reshape(spread) + np.float32(epsilon)) * scale + bias
            else:
                with np.errstate(all='ignore'):
                    want = normal(x, ((1, 2) if axes else (2, 3)) if op == 'instance_normalization' else tuple(given), epsilon, scale, bias)
            yield Case(op, inputs, params, [arr(want)], tolerance, wide=t == 'f32')


def gemm(op, signature):
    for t in dtypes(signature):
        for k, (m, n, depth) in enumerate([(1, 1, 1), (3, 4, 5), (17, 16, 33), (64, 65, 10), (2, 3, 0), (0, 3, 2), (68, 132, 36), (33, 200, 12), (100, 64, 8)]):
            for ta, tb in itertools.product((False, True), repeat=2):
                a, b = array(t, (depth, m) if ta else (m, depth), op, 'a', low=-2, high=2), array(t, (n, depth) if tb else (depth, n), op, 'b', low=-2, high=2)
                want = (wide(a).T if ta else wide(a)) @ (wide(b).T if tb else wide(b))
                inputs, params = [('a', a), ('b', b)], {'a_transpose': ta, 'b_transpose': tb}
                if k % 2:
                    c = array(t, [(), (n,), (m, 1), (m, n)][2 * ta + tb], op, 'c')
                    inputs.append(('c', c))
                    params.update({'alpha': 0.5, 'beta': 2.0})
                    want = 0.5 * want + 2 * wide(c)
                yield Case(op, inputs, params, [want], ((1e-5, 5e-5), (1e-5, 5e-5), (1e-11, 1e-10)) if t == 'f32' else ((1e-2, 5e-2), (1e-2, 5e-2), (1, 1)), wide=t == 'f32')
    yield Case(op, [('a', array('f32', (2, 3))), ('b', array('f32', (2, 3)))], {}, 'contract/where-false')


def resized(x, axis, m, linear):
    n = x.shape[axis]
    c = np.arange(m)
    if not linear:
        return np.take(x, ((2 * c + 1) * n - 1) // (2 * m), axis)
    v = np.clip((c + 0.5) * n / m - 0.5, 0, n - 1)
    low = v.astype(int)
    high, part = np.minimum(low + 1, n - 1), (v - low).reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    return np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part


def resample2d(op, signature):
    for t in dtypes(signature):
        for shape, params in [((1, 1, 2, 3), {'scales': [2.0, 2.0]}), ((2, 3, 5, 4), {'sizes': [7, 9]}), ((1, 2, 6, 8), {'scales': [0.5, 0.5]}), ((2, 4, 5, 3), {'axes': [1, 2], 'sizes': [8, 5]}), ((1, 1, 3, 3), {'sizes': [3, 3]}), ((1, 1, 1, 70001), {'sizes': [1, 100003]}), ((1, 1, 7, 1), {'sizes': [3, 5]})]:
            for mode in ('nearest_neighbor', 'linear'):
                x = array(t, shape, op)
                axes = params.get('axes', [2, 3])
                sizes = params.get('sizes') or [int(shape[a] * s) for a, s in zip(axes, params['scales'])]
                want = wide(x)
                for a, n in zip(axes, sizes):
                    want = resized(want, a, n, mode == 'linear')
                yield Case(op, [('x', x)], dict(params, mode=mode), [want], ((2e-6, 1e-5), (5e-6, 2e-5), (1e-5, 1e-5)) if t == 'f32' else NORMAL_HALF, wide=t == 'f32')


def quantization(op, signature):
    blocks = [((5,), (1,)), ((6,), (3,)), ((4, 6), (1, 1)), ((4, 6), (2, 3)), ((4, 6), (4, 1)), ((2, 3, 4), (1, 3, 1)), ((0, 3), (1, 3)), ((257,), (257,))]
    for t in dtypes(signature):
        for qt in dtypes(signature, 'Q'):
            for shape, parts in blocks:
                scale = (np.abs(array(t, parts, op, 's')) / 20 + 0.0625).astype(TYPES[t])
                small = {'low': 0 if qt == 'u8' else -100, 'high': 100}
                zero = array(qt, parts, op, 'z', **small)
                inputs = lambda x: [('x', x), ('scale', scale if parts != (1, 1) else scale[0, 0]), ('zero_point', zero if parts != (1, 1) else zero[0, 0])]
                grown = lambda a: arr(np.kron(wide(a) if a.dtype.kind == 'f' else a.astype(np.int64), np.ones([n // m for n, m in zip(shape, parts)], np.int64))) if 0 not in shape else np.zeros(shape)
                if op == 'dequantize_linear':
                    x = array(qt, shape, op, **small)
                    want = (x.astype(np.int64) - grown(zero)) * grown(scale)
                    yield Case(op, inputs(x), {}, [want.astype(np.float64)], ROUNDED, out=t, wide=t == 'f32')
                    yield Case(op, inputs(x)[:2], {}, [(x.astype(np.int64) * grown(scale)).astype(np.float64)], ROUNDED, out=t)
                else:
                    x = array(t, shape, op)
                    info = np.iinfo(TYPES[qt])
                    with np.errstate(all='ignore'):
                        r = (x.astype(np.float32) / grown(scale).astype(np.float32)) if 0 not in shape else x.astype(np.float32)
                    want = np.clip(np.rint(r) + grown(zero), info.min, info.max).astype(TYPES[qt])
                    yield Case(op, inputs(x), {}, [want], gpu=shape != (257,))


def scatter_elements(op, signature):
    for t in dtypes(signature):
        for k, (shape, n, axis) in enumerate(some([((5,), 3, 0), ((300,), 257, 0), ((4, 5), 2, 0), ((4, 5), 7, 1), ((2, 3, 4), 2, 1), ((2, 3, 4, 2), 5, 2), ((4, 5), 0, 0)], t)):
            x = array(t, shape, op, special=True)
            for it in ('i32', 'u32', 'i64'):
                idx = indices(it, shape[:axis] + (n,) + shape[axis + 1:], shape[axis], op, k)
                u = array(t, idx.shape, op, 'u')
                want = x.copy()
                for j in range(n):  # the last one stays
                    at = (slice(None),) * axis + (slice(j, j + 1),)
                    np.put_along_axis(want, idx[at].astype(np.int64), u[at], axis)
                yield Case(op, [('x', x), ('indices', idx), ('updates', u)], {'axis': axis}, [want], gpu=it == 'i64')


def scatter_nd(op, signature):
    for t in dtypes(signature):
        for k, (shape, lead, n) in enumerate(some([((5,), (3,), 1), ((4, 5), (3,), 1), ((4, 5), (2, 9), 2), ((2, 3, 4), (7,), 2), ((2, 3, 4, 2), (), 3), ((2, 3), (0,), 1), ((300, 2), (257,), 1)], t)):
            x = array(t, shape, op, special=True)
            for it in ('i32', 'u32', 'i64'):
                idx = np.stack([indices(it, lead, shape[d], op, k, d) for d in range(n)], -1)
                u = array(t, lead + shape[n:], op, 'u')
                want = x.copy()
                for at in np.ndindex(*lead):
                    want[tuple(int(v) for v in idx[at])] = u[at]
                yield Case(op, [('x', x), ('indices', idx), ('updates', u)], {}, [want], gpu=it == 'i64')


def conv_transpose2d(op, signature):
    for t in dtypes(signature):
        for k, (shape, kernel, params) in enumerate([((1, 1, 3, 3), (1, 1, 3, 3), {}), ((2, 3, 4, 5), (3, 2, 3, 2), {}), ((1, 2, 4, 3), (2, 3, 3, 3), {'strides': [2, 3]}), ((1, 1, 4, 4), (1, 2, 2, 2), {'dilations': [2, 3]}),
                                                     ((2, 2, 5, 5), (2, 2, 3, 3), {'padding': [1, 1, 1, 1]}), ((1, 4, 3, 4), (4, 3, 3, 3), {'groups': 2, 'padding': [1, 0, 0, 1], 'strides': [2, 2], 'output_padding': [1, 0]})]):
            x, f = array(t, shape, op, low=-2, high=2), array(t, kernel, op, 'f', low=-2, high=2)
            groups, st, di = params.get('groups', 1), params.get('strides', [1, 1]), params.get('dilations', [1, 1])
            pa, op_ = params.get('padding', [0] * 4), params.get('output_padding', [0, 0])
            n, c, h, w = shape
            full = np.zeros((n, kernel[1] * groups, (h - 1) * st[0] + (kernel[2] - 1) * di[0] + 1 + op_[0], (w - 1) * st[1] + (kernel[3] - 1) * di[1] + 1 + op_[1]))
            for ci in range(c):
                g = ci // (c // groups)
                for o, r, s in np.ndindex(*kernel[1:]):
                    full[:, g * kernel[1] + o, r * di[0]:r * di[0] + (h - 1) * st[0] + 1:st[0], s * di[1]:s * di[1] + (w - 1) * st[1] + 1:st[1]] += wide(x)[:, ci] * wide(f)[ci, o, r, s]
            want = full[:, :, pa[0]:full.shape[2] - pa[1], pa[2]:full.shape[3] - pa[3]]
            inputs = [('x', x), ('filter', f)]
            if k % 2:
                b = array(t, (kernel[1] * groups,), op, 'b')
                inputs.append(('bias', b))
                want = want + wide(b)[:, None, None]
            yield Case(op, inputs, params, [want.copy()], SUMMED if t == 'f32' else ((1e-2, 2e-2), (1e-2, 2e-2), (1, 1)), wide=t == 'f32')


SPECIAL = {'scatter_elements': scatter_elements, 'scatter_nd': scatter_nd, 'conv_transpose2d_nchw': conv_transpose2d,
           'layer_normalization': normalization, 'instance_normalization': normalization, 'batch_normalization': normalization, 'gemm': gemm, 'resample2d': resample2d,
           'quantize_linear': quantization, 'dequantize_linear': quantization,
           'reverse': reverse, 'tile': tile, 'prelu': prelu, 'gather_elements': gather_elements, 'gather_nd': gather_nd, 'cumulative_sum': cumulative_sum, 'average_pool2d_nchw': pool, 'max_pool2d_nchw': pool, 'l2_pool2d_nchw': pool,
           'average_pool2d': pool_layouts, 'max_pool2d': pool_layouts, 'l2_pool2d': pool_layouts, 'conv2d': convolution_layouts, 'conv_transpose2d': convolution_layouts,
           'conv2d_nchw': conv2d,
           'where': where, 'arg_max': arg, 'arg_min': arg, 'softmax': softmax, 'matmul': matmul, 'transpose': transpose, 'reshape': reshape, 'expand': expand, 'sum_to_shape': sum_to_shape, 'fill': fill,
           'concat': concat, 'split': split, 'slice': slice_, 'place': place, 'gather': gather, 'pad': pad, 'cast': cast, 'triangular': triangular}

SPECIAL.update(learning.add(Case, dtypes, arr))
SPECIAL.update(sequences.add(Case, dtypes, arr))


def big(op):
    """More than 65,535 workgroups: the grid is folded into two dimensions."""
    if op == 'add':
        a, b = array('f32', (17000001,), op), array('f32', (1,), op, 'b')
        yield Case(op, [('a', a), ('b', b)], {}, [arr(wide(a) + wide(b))], ROUNDED)
    elif op == 'transpose':
        x = array('u8', (2100, 2003), op)
        yield Case(op, [('x', x)], {}, [np.ascontiguousarray(x.T)])
    if op == 'reduce_sum':  # several spans a lane, then more spans than lanes
        x = array('f32', (17000000,), op)
        yield Case(op, [('x', x)], {}, [total(wide(x), 0)], ((1e-5, 2e-2), (1e-5, 2e-2), (1e-11, 1e-6)))
    if op in ('reduce_sum', 'reduce_max', 'softmax', 'arg_min'):
        x = array('f32', (65543, 3), op)
        if op == 'softmax':
            e = np.exp(wide(x) - wide(x).max(1, keepdims=True))
            yield Case(op, [('x', x)], {'axis': 1}, [e / e.sum(1, keepdims=True)], ((2e-6, 1e-7), (1e-5, 1e-6), (1e-12, 1e-12)))
        elif op == 'arg_min':
            x = array('f32', (4200000, 1), op)
            yield Case(op, [('x', x)], {'axis': 1}, [np.zeros(4200000, np.int32)])
        else:
            yield Case(op, [('x', x)], {'axes': [1]}, [total(wide(x), 1) if op == 'reduce_sum' else x.max(1)], SUMMED if op == 'reduce_sum' else EXACT)
    elif op == 'matmul':
        a, b = array('f32', (70000, 1, 2), op), array('f32', (2, 1), op, 'b')
        yield Case(op, [('a', a), ('b', b)], {}, [wide(a) @ wide(b)], SUMMED)


INF, NAN = np.inf, np.nan
EDGES = {  # values at which NumPy says what IEEE 754 says, on the oracle
    'log': [0.0, -0.0, -1.0, INF, NAN, 1e-45, 1.0], 'sqrt': [0.0, -0.0, -1.0, INF, NAN, 1e-45], 'exp': [INF, -INF, NAN, 1000.0, -1000.0, 89.0, -110.0],
    'tanh': [INF, -INF, 1e-30, 0.0], 'sigmoid': [INF, -INF, NAN, 100.0, -80.0], 'erf': [INF, -INF, NAN, 1e-30, 9.0, -9.0, 0.0], 'sinh': [INF, -INF, NAN, 0.0, 89.0, -89.0, 1e-30, 1.0, 0.999], 'cosh': [INF, -INF, NAN, 0.0, 89.0, 100.0],
    'asinh': [INF, -INF, NAN, 0.0, 1e-30, 3e38, -1e30, 0.25, 0.249, -0.6], 'atan': [INF, -INF, NAN, 0.0, 1e30],
    'relu': [INF, -INF, 0.0], 'reciprocal': [0.0, -0.0, INF, -INF, NAN], 'softplus': [INF, 1000.0, -1000.0], 'sin': [0.0, NAN], 'cos': [0.0, NAN],
}
PAIR_EDGES = [(1, 0), (-1, 0), (0, 0), (INF, INF), (INF, -INF), (0, INF), (NAN, 1), (1, NAN), (-0.0, 0.0), (0, -1), (-8, 1 / 3), (-2, 3), (-2, -2), (-2, -3), (-0.0, 3), (-0.0, -3), (2, INF), (0.5, INF),
              (2, -INF), (INF, 0), (-INF, 3), (-INF, 2), (NAN, 0), (3e38, 2), (0, 0.5), (1, 1e30)]


def edges(op):
    if op in EDGES:
        x = np.array(EDGES[op], np.float32)
        with np.errstate(all='ignore'):
            yield Case(op, [('x', x)], {}, [UNARY[op][0](wide(x))], ((4e-7, 2e-45), (0, 0), (0, 0)), gpu=False)
    if op in ('add', 'sub', 'mul', 'div', 'pow', 'equal', 'not_equal', 'greater', 'lesser', 'greater_or_equal', 'lesser_or_equal', 'max', 'min'):
        pairs = [p for p in PAIR_EDGES if op not in ('max', 'min') or p[0] == p[0] and p[1] == p[1]]
        a, b = np.array([p[0] for p in pairs], np.float32), np.array([p[1] for p in pairs], np.float32)
        with np.errstate(all='ignore'):
            yield Case(op, [('a', a), ('b', b)], {}, [BINARY[op][0](wide(a), wide(b))] if BINARY[op][1] is not EXACT else [BINARY[op][0](a, b)], ((4e-7, 0), (0, 0), (0, 0)), gpu=False)
    if op == 'softmax':
        x = np.array([[-INF, 0, 1], [500, 500, -500]], np.float32)
        e = np.exp(wide(x) - wide(x).max(1, keepdims=True))
        yield Case(op, [('x', x)], {'axis': 1}, [e / e.sum(1, keepdims=True)], SMOOTH)
    if op in ('reduce_max', 'reduce_min'):
        x = np.array([[-INF, 0, 1], [INF, 2, 3], [-INF, -INF, -INF]], np.float32)
        yield Case(op, [('x', x)], {'axes': [1]}, [x.max(1) if op == 'reduce_max' else x.min(1)])
    if op in ('gather', 'gather_elements'):  # outside the dimension the nearest element
        x = np.arange(5, dtype=np.float32)
        far = np.array([5, 4, 2147483647, -5, -6, -2147483648, 0], np.int32)
        yield Case(op, [('x', x), ('indices', far)], {}, [x[[4, 4, 4, 0, 0, 0, 0]]])
        yield Case(op, [('x', x), ('indices', far.astype(np.int64))], {}, [x[[4, 4, 4, 0, 0, 0, 0]]])
        yield Case(op, [('x', x), ('indices', np.array([4, 5, 2147483647], np.uint32))], {}, [x[[4, 4, 4]]])
        yield Case(op, [('x', x), ('indices', np.array([0, 1 << 40], np.int64))], {}, 'run/index-out-of-range')
    if op == 'cast':
        x = np.array([3e9, -3e9, 1e20, -1e20, 300.0, -300.0, INF, -INF, 2147483647.0, -2147483648.0, 4294967295.0], np.float32)
        for to in ('i32', 'u32', 'i8', 'u8', 'i64', 'u64', 'bool'):
            yield Case(op, [('x', x)], {'type': to}, [reference.cast(x, TYPES[to])], out=to, gpu=to != 'bool')


def make(op, signature):
    return small(op, signature) + list(edges(op)) + list(big(op))


def small(op, signature):
    for table, fn in ((UNARY, unary), (BINARY, binary), (ACTIVATIONS, activation), (REDUCE, reduction)):
        if op in table:
            return list(fn(op, signature))
    for module in (cases_onnx, cases_order, cases_signal):
        if op in module.OPS:
            return [told(*case) for case in module.OPS[op](op, dtypes(signature))]
    return (list(SPECIAL[op](op, signature)) if op in SPECIAL else []) + gradients.cases(op, Case)


def told(op, inputs, params, expect, how):
    """A case of another module: its tolerance by name, and what else it says."""
    named = {'exact': EXACT, 'rounded': ROUNDED, 'smooth': SMOOTH, 'sum': SUMMED}
    tolerance = how.get('tolerance', 'exact')
    tolerance = named[tolerance] if isinstance(tolerance, str) else tolerance
    if inputs and not any(a.dtype.kind == 'f' for _, a in inputs):
        tolerance = EXACT
    return Case(op, inputs, params, expect, tolerance, how.get('gpu', True), how.get('wide', False), how.get('out'), how.get('tier'))
