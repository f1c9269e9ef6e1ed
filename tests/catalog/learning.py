"""Cases of norms, losses, attention and optimizers: what PyTorch's formulas give in f64."""
import numpy as np

from arrays import TYPES, array, wide


def add(Case, dtypes, arr):
    """op -> function(op, signature) that yields cases."""
    sharp = ((2e-6, 2e-6), (2e-5, 1e-5), (1e-11, 1e-11))
    norm = ((5e-6, 5e-6), (2e-5, 2e-5), (1e-6, 1e-6))
    half = ((2e-2, 2e-2), (2e-2, 2e-2), (1, 1))

    def tol(t, full):
        return full if t == 'f32' else half

    def log_softmax(x, axis):
        c = x - x.max(axis, keepdims=True)
        return c - np.log(np.exp(c).sum(axis, keepdims=True))

    def log_softmax_(op, signature):
        for t in dtypes(signature):
            for shape, axis in [((5,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), 1), ((70, 65), 1), ((65, 70), 0), ((3, 1030), 1), ((0, 3), 1), ((9, 33), 1)]:
                x = array(t, shape, op)
                yield Case(op, [('x', x)], {'axis': axis}, [log_softmax(wide(x), axis) if x.size else wide(x)], tol(t, sharp), wide=t == 'f32')
        yield Case(op, [('x', np.array([[-1000, 0, 1000]], np.float32))], {'axis': 1}, [np.array([[-2000.0, -1000, 0]])], sharp)
        yield Case(op, [('x', array('f32', (3, 0)))], {'axis': 1}, 'contract/empty-reduction')
        big = array('f32', (1, 1100001), op)
        yield Case(op, [('x', big)], {'axis': 1}, [log_softmax(wide(big), 1)], ((2e-6, 2e-5), (2e-5, 5e-5), (1e-11, 1e-11)))

    def trailing(op, signature):
        for t in dtypes(signature):
            for k, (shape, axis) in enumerate([((2, 3, 4), 1), ((2, 3, 4), None), ((5, 300), None), ((3, 2000), None), ((100, 7), None), ((4,), 0), ((0, 3), None), ((2, 3, 4), 0)]):
                x = array(t, shape, op)
                params = {} if axis is None else {'axis': axis}
                if k % 2:
                    params['epsilon'] = 1e-3
                epsilon = np.float64(np.float32(params.get('epsilon', 1e-5)))
                first = len(shape) - 1 if axis is None else axis
                axes = tuple(range(first, len(shape)))
                inputs, v = [('x', x)], wide(x)
                if op == 'rms_norm':
                    y = v / np.sqrt((v * v).mean(axes, keepdims=True) + epsilon) if x.size else v
                else:
                    y = (v - v.mean(axes, keepdims=True)) / np.sqrt(v.var(axes, keepdims=True) + epsilon) if x.size else v
                if k % 3 != 2:
                    s = array(t, shape[first:], op, 's')
                    inputs.append(('scale', s))
                    y = y * wide(s)
                if k % 3 != 1 and op == 'layer_norm':
                    b = array(t, shape[first:], op, 'b')
                    inputs.append(('bias', b))
                    y = y + wide(b)
                yield Case(op, inputs, params, [arr(y)], tol(t, norm), wide=t == 'f32')
        yield Case(op, [('x', array('f32', (2, 3)))], {'axis': 2}, 'contract/where-false')
        big = array('f32', (2, 600001), op)
        v = wide(big)
        yield Case(op, [('x', big)], {}, [v / np.sqrt((v * v).mean(1, keepdims=True) + 1e-5) if op == 'rms_norm' else (v - v.mean(1, keepdims=True)) / v.std(1, keepdims=True)], norm)

    def group_norm(op, signature):
        for t in dtypes(signature):
            for k, (shape, groups) in enumerate([((2, 6, 4, 5), 3), ((1, 4), 2), ((3, 8, 33), 1), ((2, 4, 3), 4), ((1, 2, 40, 41), 2), ((0, 4, 2), 2)]):
                x = array(t, shape, op)
                u = wide(x).reshape((shape[0], groups, -1)) if x.size else wide(x)
                y = ((u - u.mean(2, keepdims=True)) / np.sqrt(u.var(2, keepdims=True) + np.float64(np.float32(1e-5)))).reshape(shape) if x.size else u
                inputs, spread = [('x', x)], (-1,) + (1,) * (len(shape) - 2)
                if k % 3 != 2:
                    s = array(t, (shape[1],), op, 's')
                    inputs.append(('scale', s))
                    y = y * wide(s).reshape(spread)
                if k % 3 != 1:
                    b = array(t, (shape[1],), op, 'b')
                    inputs.append(('bias', b))
                    y = y + wide(b).reshape(spread)
                yield Case(op, inputs, {'groups': groups}, [arr(y)], tol(t, norm), wide=t == 'f32')
        yield Case(op, [('x', array('f32', (1, 4, 2)))], {'groups': 3}, 'contract/where-false')

    def mean_variance(op, signature):
        for t in dtypes(signature):
            for shape, axes in [((5,), None), ((3, 4), [0]), ((2, 3, 4, 5), [0, 2, 3]), ((300, 3), [0]), ((), None)]:
                x = array(t, shape, op)
                given = tuple(range(len(shape))) if axes is None else tuple(axes)
                for keep in (False, True):
                    params = dict({} if axes is None else {'axes': axes}, keep_dimensions=keep)
                    yield Case(op, [('x', x)], params, [arr(wide(x).mean(given, keepdims=keep)), arr(wide(x).var(given, keepdims=keep))], tol(t, ((3e-6, 2e-5), (3e-6, 4e-5), (1e-11, 1e-11))) if t == 'f32' else ((2e-2, 1), (2e-2, 1), (1, 1)), wide=t == 'f32')

    sig = lambda v: 1 / (1 + np.exp(-v))
    pointwise = {'silu': lambda v: v * sig(v), 'mish': lambda v: v * np.tanh(np.logaddexp(0, v)),
                 'selu': lambda v: 1.0507009873554805 * np.where(v > 0, v, 1.6732632423543772 * np.expm1(v))}

    def activation(op, signature):
        for t in dtypes(signature):
            for shape in [(), (65,), (0, 2), (3, 4, 5), (1024,)]:
                x = array(t, shape, op)
                yield Case(op, [('x', x)], {}, [arr(pointwise[op](wide(x)))], tol(t, ((2e-6, 1e-6), (2e-5, 4e-6), (1e-6, 1e-6))), wide=t == 'f32')

    def glu(op, signature):
        for t in dtypes(signature):
            for shape, axis in [((6,), None), ((4, 3), 0), ((2, 8, 3), 1), ((3, 130), None)]:
                x = array(t, shape, op)
                a, b = np.split(wide(x), 2, -1 if axis is None else axis)
                yield Case(op, [('x', x)], {} if axis is None else {'axis': axis}, [a * sig(b)], tol(t, sharp), wide=t == 'f32')
        yield Case(op, [('x', array('f32', (3,)))], {}, 'contract/where-false')

    def embedding(op, signature):
        for t in dtypes(signature):
            for rows, width, picks in [(5, (3,), (4,)), (300, (65,), (2, 7)), (4, (), (3,)), (4, (2, 3), ()), (4, (2,), (0,))]:
                w = array(t, (rows,) + width, op)
                for it in ('i32', 'u32', 'i64'):
                    i = array(it, picks, op, low=0 if it == 'u32' else -rows, high=rows - 1)
                    yield Case(op, [('weight', w), ('indices', i)], {}, [arr(w[i.astype(np.int64)])], gpu=it != 'u32')

    def clip_by_norm(op, signature):
        for t in dtypes(signature):
            for shape, most in [((5,), 1.0), ((3, 4), 1000.0), ((257,), 0.5), ((0,), 1.0), ((), 2.0)]:
                x = array(t, shape, op)
                n = np.sqrt((wide(x) ** 2).sum())
                yield Case(op, [('x', x)], {'max_norm': most}, [arr(wide(x) * most / max(n, most))], tol(t, sharp), wide=False)

    errors = {'mse': lambda d: d * d, 'l1_loss': np.abs, 'huber': lambda d, k: np.where(np.abs(d) <= k, d * d / 2, k * (np.abs(d) - k / 2))}

    def loss(op, signature):
        for t in dtypes(signature):
            for shape in [(5,), (3, 4), (70, 65), (), (5003,)]:
                x, y = array(t, shape, op, 'x', low=-3, high=3), array(t, shape, op, 'y', low=-3, high=3)
                if op == 'binary_cross_entropy_with_logits':
                    y = arr(np.abs(y) / 3).astype(TYPES[t])
                for reduction in ('none', 'mean', 'sum'):
                    params = {'reduction': reduction}
                    if op == 'huber' and reduction != 'none':
                        params['delta'] = 0.5
                    if op == 'huber':
                        e = errors[op](wide(x) - wide(y), params.get('delta', 1.0))
                    elif op in errors:
                        e = errors[op](wide(x) - wide(y))
                    else:
                        e = -wide(y) * np.log(sig(wide(x))) - (1 - wide(y)) * np.log(1 - sig(wide(x)))
                    e = e if reduction == 'none' else e.mean() if reduction == 'mean' else e.sum()
                    yield Case(op, [('x', x), ('target', y)], params, [arr(e)], tol(t, ((4e-6, 2e-6), (2e-5, 1e-5), (1e-6, 1e-6))), wide=t == 'f32')
        empty = np.zeros((0,), np.float32)
        yield Case(op, [('x', empty), ('target', empty)], {'reduction': 'sum'}, [arr(np.float64(0))])
        if op == 'mse':
            x, y = array('f32', (4300003,), op, 'x'), array('f32', (4300003,), op, 'y')
            yield Case(op, [('x', x), ('target', y)], {}, [arr(((wide(x) - wide(y)) ** 2).mean())], ((5e-6, 0), (5e-6, 0), (1e-9, 0)))

    def distribution(labels, classes, smoothing):
        one = np.zeros(labels.shape + (classes,))
        inside = (labels >= 0) & (labels < classes)
        np.put_along_axis(one, np.where(inside, labels, 0)[..., None], inside[..., None].astype(float), -1)
        return (1 - smoothing) * one + smoothing / classes

    def cross_entropy(op, signature):
        for t in dtypes(signature):
            for k, (rows, classes) in enumerate([((5,), 3), ((2, 3), 10), ((70,), 65), ((9,), 1), ((), 4), ((3,), 1500), ((0,), 3)]):
                x = array(t, rows + (classes,), op)
                for it in ('i32', 'i64'):
                    labels = np.asarray(array(it, rows, op, low=0, high=classes - 1))
                    if labels.size > 3:
                        labels.reshape(-1)[1::4] = -100 if k % 2 else 1
                    for reduction in ('none', 'mean', 'sum'):
                        params = {'reduction': reduction}
                        smoothing = 0.0
                        if reduction != 'none':
                            params['label_smoothing'] = smoothing = 0.25
                        if k % 2 == 0:
                            params['ignore_index'] = 1
                        keep = labels != params.get('ignore_index', -100)
                        n = labels.astype(np.int64)
                        w = distribution(n, classes, smoothing)
                        each = np.where(keep, -(w * (log_softmax(wide(x), -1) if x.size else wide(x))).sum(-1), 0)
                        with np.errstate(all='ignore'):
                            want = each if reduction == 'none' else each.sum() if reduction == 'sum' else each.sum() / keep.sum()
                        inputs = [('logits', x), ('labels', labels)]
                        if op == 'cross_entropy_gradient':
                            g = array(t, rows if reduction == 'none' else (), op, 'g')
                            inputs.append(('d_loss', g))
                            with np.errstate(all='ignore'):
                                scale = wide(g)[..., None] if reduction == 'none' else wide(g) / (keep.sum() if reduction == 'mean' else 1)
                                want = np.where(keep[..., None], ((np.exp(log_softmax(wide(x), -1)) if x.size else wide(x)) - w) * scale, 0)
                        if t == 'f16' and reduction == 'sum' and op == 'cross_entropy':
                            continue
                        yield Case(op, inputs, params, [arr(want)], tol(t, ((3e-6, 3e-6), (2e-5, 2e-5), (1e-6, 1e-6))), wide=t == 'f32' and it == 'i32', gpu=it == 'i64' or k % 2 == 0)

                        if it == 'i64' and t == 'f32' and rows and rows != (0,): # classes that count more or less
                            share = wide(np.abs(array(t, (classes,), op, 'weight')) + np.float32(0.125)).astype(TYPES[t])
                            label = np.where(keep, n.clip(0, classes - 1), 0)
                            counted = np.where(keep, wide(share)[label], 0)
                            pulled = w * wide(share)
                            if op == 'cross_entropy':
                                each = np.where(keep, -(pulled * log_softmax(wide(x), -1)).sum(-1), 0)
                                want = each if reduction == 'none' else each.sum() if reduction == 'sum' else each.sum() / counted.sum()
                            else:
                                scale = wide(g)[..., None] if reduction == 'none' else wide(g) / (counted.sum() if reduction == 'mean' else 1)
                                want = np.where(keep[..., None], (np.exp(log_softmax(wide(x), -1)) * pulled.sum(-1, keepdims=True) - pulled) * scale, 0)
                            yield Case(op, inputs + [('weight', share)], params, [arr(want)], tol(t, ((1e-5, 1e-5), (4e-5, 4e-5), (1e-6, 1e-6))), wide=True)

    def soft_cross_entropy(op, signature):
        for t in dtypes(signature):
            for rows, classes in [((5,), 3), ((2, 3), 10), ((70,), 65), ((), 4)]:
                x, w = array(t, rows + (classes,), op), np.abs(array(t, rows + (classes,), op, 'w', low=0, high=1))
                for reduction in ('none', 'mean', 'sum'):
                    smoothing = 0.0 if reduction == 'none' else 0.125
                    each = -(((1 - smoothing) * wide(w) + smoothing / classes) * log_softmax(wide(x), -1)).sum(-1)
                    want = each if reduction == 'none' else each.sum() if reduction == 'sum' else each.mean()
                    yield Case(op, [('logits', x), ('target', w)], {'reduction': reduction, 'label_smoothing': smoothing}, [arr(want)], tol(t, ((3e-6, 3e-6), (2e-5, 1e-5), (1e-6, 1e-6))), wide=t == 'f32')

    def attention(op, signature):
        for t in dtypes(signature):
            for k, (b, heads, groups, q, n, d, e, mask) in enumerate([((), 1, 1, 1, 1, 1, 1, None), ((2,), 2, 2, 5, 7, 4, 3, None), ((), 4, 2, 33, 35, 8, 8, (1, 33, 35)), ((2,), 3, 1, 70, 65, 16, 40, (2, 1, 1, 65)),
                                                                      ((), 2, 2, 40, 40, 256, 256, None), ((1, 2), 2, 1, 3, 40, 33, 5, (3, 40)), ((), 1, 1, 0, 3, 2, 2, None), ((), 1, 1, 4, 5, 3, 300, None)]):
                for causal in (False, True):
                    r = 3 if d < 64 else 0.5
                    Q, K, V = array(t, b + (heads, q, d), op, 'q', low=-r, high=r), array(t, b + (groups, n, d), op, 'k', low=-r, high=r), array(t, b + (groups, n, e), op, 'v')
                    params = {'causal': causal}
                    if k % 3 == 1:
                        params['scale'] = 0.25
                    s = wide(Q) @ np.repeat(wide(K), heads // groups, -3).swapaxes(-1, -2) * params.get('scale', 1 / np.sqrt(d))
                    inputs = [('query', Q), ('key', K), ('value', V)]
                    if mask:
                        m = array(t, mask, op, 'm', low=-2, high=2)
                        if not causal:
                            m.reshape(-1)[1::5] = -np.inf
                        inputs.append(('mask', m))
                        s = s + wide(m)
                    if causal:
                        s = np.where(np.tril(np.ones((q, n), bool)), s, -np.inf)
                    with np.errstate(all='ignore'):
                        w = np.exp(s - s.max(-1, keepdims=True)) if s.size else s
                        w = w / w.sum(-1, keepdims=True)
                    yield Case(op, inputs, params, [arr(w @ np.repeat(wide(V), heads // groups, -3))], tol(t, ((2e-5, 2e-5), (5e-5, 5e-5), (1e-6, 1e-6))), wide=t == 'f32')
        x = array('f32', (1, 3, 2), op)
        yield Case(op, [('query', x), ('key', np.zeros((1, 0, 2), np.float32)), ('value', np.zeros((1, 0, 2), np.float32))], {}, 'contract/where-false')
        yield Case(op, [('query', array('f32', (3, 3, 2))), ('key', array('f32', (2, 3, 2))), ('value', array('f32', (2, 3, 2)))], {}, 'contract/where-false')

    def adam_step(w, g, m, v, n, lr, b1, b2, eps, decay, decoupled):
        if decoupled:
            w = w * (1 - lr * decay)
        else:
            g = g + decay * w
        m, v = b1 * m + (1 - b1) * g, b2 * v + (1 - b2) * g * g
        return w - lr * (m / (1 - b1 ** n)) / (np.sqrt(v / (1 - b2 ** n)) + eps), m, v

    def adam(op, signature):
        for t in ('f32', 'f16'):
            for k, shape in enumerate([(5,), (), (257,), (3, 4), (0,)]):
                for n in (1, 2, 10, 12345, 2147483647):
                    params = {} if k % 2 else {'learning_rate': 0.01, 'beta1': 0.75, 'beta2': 0.99, 'epsilon': 1e-3, 'weight_decay': 0.5}
                    w, g, m, v = (array(x, shape, op, x + y) for x, y in (('f32', 'w'), (t, 'g'), ('f32', 'm'), ('f32', 'v')))
                    v = arr(np.abs(v))
                    inputs = [('weight', w), ('gradient', g), ('m', m), ('v', v), ('step', arr(np.int32(n)))]
                    lr = params.get('learning_rate', 1e-3)
                    if k % 3 == 2:
                        lr = 0.125
                        inputs.append(('rate', arr(np.float32(lr))))
                    f = lambda key, d: np.float64(np.float32(params.get(key, d)))
                    factor = 1
                    if n == 10:
                        factor = 0.375
                        inputs.append(('factor', arr(np.float32(factor))))
                    want = adam_step(wide(w), factor * wide(g), wide(m), wide(v), n, np.float64(np.float32(lr)), f('beta1', 0.9), f('beta2', 0.999), f('epsilon', 1e-8), f('weight_decay', 0 if op == 'adam' else 1e-2), op == 'adamw')
                    yield Case(op, inputs, params, [arr(a) for a in want], ((1e-6, 1e-6), (5e-6, 5e-6), (1e-10, 1e-10)), wide=t == 'f32')
        w = array('f32', (2,), op)
        left_out = [('weight', w), ('gradient', w), ('m', w), ('v', arr(np.abs(w))), ('step', arr(np.int32(1))), ('factor', arr(np.float32(0)))]
        yield Case(op, left_out, {}, [w, w, arr(np.abs(w))])
        yield Case(op, [('weight', w), ('gradient', w), ('m', w), ('v', w), ('step', arr(np.int32(1)))], {'beta1': 1.0}, 'contract/where-false')

    def sgd(op, signature):
        for t in ('f32', 'f16'):
            for k, shape in enumerate([(5,), (), (257,), (3, 4), (0,)]):
                for nesterov in (False, True):
                    params = {'nesterov': nesterov}
                    if k % 2:
                        params.update({'learning_rate': 0.5, 'momentum': 0.25, 'weight_decay': 0.125})
                    w, g, u = array('f32', shape, op, 'w'), array(t, shape, op, 'g'), array('f32', shape, op, 'u')
                    inputs, lr = [('weight', w), ('gradient', g), ('velocity', u)], np.float64(np.float32(params.get('learning_rate', 1e-3)))
                    if k % 3 == 2:
                        lr = 0.125
                        inputs.append(('rate', arr(np.float32(lr))))
                    mu = np.float64(np.float32(params.get('momentum', 0.9)))
                    factor = 1
                    if nesterov:
                        factor = 0.375
                        inputs.append(('factor', arr(np.float32(factor))))
                    d = factor * wide(g) + params.get('weight_decay', 0) * wide(w)
                    v = mu * wide(u) + d
                    yield Case(op, inputs, params, [arr(wide(w) - lr * (d + mu * v if nesterov else v)), arr(v)], ((1e-6, 1e-6), (1e-6, 1e-6), (1e-11, 1e-11)), wide=t == 'f32')

        w = array('f32', (2,), op)
        yield Case(op, [('weight', w), ('gradient', w), ('velocity', w), ('factor', arr(np.float32(0)))], {}, [w, w])

    def gradient_factor(op, signature):
        for square in (0.0, 1e-20, 4.0, 1e10, 3e38, np.inf, -np.inf, np.nan):
            for scale in (None, 1.0, 65536.0, 2.0 ** -16):
                for most in (0.0, 0.5):
                    with np.errstate(all='ignore'):
                        s, norm = np.float64(scale or 1), np.sqrt(np.float64(np.float32(square)))
                        want = most / norm if most and norm > most * s else 1 / s
                    inputs = [('square', arr(np.float32(square)))] + ([('scale', arr(np.float32(scale)))] if scale else [])
                    yield Case(op, inputs, {'max_norm': most}, [arr(np.float64(want if np.isfinite(square) else 0))], ((1e-6, 0), (1e-6, 0), (1e-10, 0)))

    def clip_by_value(op, signature):
        for shape in ((5,), (), (257,), (3, 4), (0,)):
            for scale in (None, 4.0):
                x, most = array('f32', shape, op), 0.375
                inputs = [('x', x)] + ([('scale', arr(np.float32(scale)))] if scale else [])
                yield Case(op, inputs, {'max_value': most}, [arr(np.clip(wide(x), -most * (scale or 1), most * (scale or 1)))])

    return {'gradient_factor': gradient_factor, 'clip_by_value': clip_by_value, 'log_softmax': log_softmax_, 'layer_norm': trailing, 'rms_norm': trailing, 'group_norm': group_norm, 'mean_variance': mean_variance,
            'silu': activation, 'mish': activation, 'selu': activation, 'glu': glu, 'embedding': embedding, 'clip_by_norm': clip_by_norm,
            'mse': loss, 'l1_loss': loss, 'huber': loss, 'binary_cross_entropy_with_logits': loss,
            'cross_entropy': cross_entropy, 'cross_entropy_gradient': cross_entropy, 'soft_cross_entropy': soft_cross_entropy,
            'attention': attention, 'adam': adam, 'adamw': adam, 'sgd': sgd}
