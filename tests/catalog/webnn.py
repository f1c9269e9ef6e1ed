#!/usr/bin/env python3
"""WebNN's operators the way a user runs them: `gradus op run` on files, its names, parameters and defaults, beside SciPy and NumPy.

  webnn.py GRADUS [OP ...]

Speaks TAP. The values are few and awkward: odd sizes, negative numbers, ties, infinities, integers at their ends, empty lists of axes.
Every case runs in f32, every fifth again in f64; a build with sanitizers, which is slow, does every sixth.
"""
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    from scipy import signal, special
except ImportError:
    system = '/usr/bin/python3'
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system] + sys.argv)
    print('ok 1 - WebNN beside SciPy # SKIP SciPy is missing (python3-scipy)\n1..1')
    sys.exit(0)

INF, NAN = np.inf, np.nan
R = np.random.default_rng(7)


def f(*shape):
    """Multiples of 1/16 within 4: exact in every dtype, with ties among them."""
    return np.round(R.uniform(-4, 4, shape) * 16) / 16


def taken(x, window, strides, dilations, padding, fill):
    """Windows of an nchw array: n, c, rows, columns, window."""
    x = np.pad(x, [(0, 0), (0, 0), (padding[0], padding[1]), (padding[2], padding[3])], constant_values=fill)
    reach = [(w - 1) * d + 1 for w, d in zip(window, dilations)]
    v = np.lib.stride_tricks.sliding_window_view(x, reach, (2, 3))
    return v[:, :, ::strides[0], ::strides[1], ::dilations[0], ::dilations[1]]


def conv2d(x, w, groups=1, strides=(1, 1), dilations=(1, 1), padding=(0, 0, 0, 0)):
    v = taken(x, w.shape[2:], strides, dilations, padding, 0)
    n, c = x.shape[:2]
    v = v.reshape(n, groups, c // groups, *v.shape[2:])
    return np.einsum('ngcyxrs,gocrs->ngoyx', v, w.reshape(groups, -1, *w.shape[1:])).reshape(n, -1, *v.shape[3:5])


def softmax(x, axis):
    return special.softmax(x, axis)


def lstm_cell(x, w, r, h, c, b, rb, p):
    i, o, fg, g = np.split(x @ w.T + b + h @ r.T + rb, 4, 1)
    pi, po, pf = np.split(p, 3)
    i, o, fg = special.expit(i + pi * c), special.expit(o + po * c), special.expit(fg + pf * c)
    cell = fg * c + i * np.tanh(g)
    return o * np.tanh(cell), cell


def gru_cell(x, w, r, h, b, rb):
    """Reset after the product, gates in the order z, r, n."""
    xz, xr, xn = np.split(x @ w.T + b, 3, 1)
    hz, hr, hn = np.split(h @ r.T + rb, 3, 1)
    z = special.expit(xz + hz)
    return z * h + (1 - z) * np.tanh(xn + special.expit(xr + hr) * hn)


def cases():
    """(op, inputs, parameters, results)"""
    x, y4 = f(2, 3, 5), f(2, 3, 5, 7)
    for op, fn in (('ceil', np.ceil), ('erf', special.erf), ('sign', np.sign), ('round_even', np.rint), ('softplus', lambda v: np.logaddexp(0, v)), ('gelu', lambda v: v * special.ndtr(v)),
                   ('hard_sigmoid', lambda v: np.clip(0.2 * v + 0.5, 0, 1)), ('elu', lambda v: np.where(v < 0, np.expm1(v), v)), ('leaky_relu', lambda v: np.where(v < 0, 0.01 * v, v))):
        yield op, [x], {}, [fn(x)]
    a, b = f(4, 1, 3), f(2, 1)
    for op, fn in (('sub', np.subtract), ('max', np.maximum), ('not_equal', np.not_equal), ('greater_or_equal', np.greater_equal), ('lesser', np.less)):
        yield op, [a, b], {}, [fn(a, b)]
    yield 'div', [a, np.abs(b) + 1], {}, [a / (np.abs(b) + 1)]
    yield 'pow', [np.array([-2.0, -2, 0, 9, 4, -1]), np.array([3.0, 2, 0, 0.5, -1, 5])], {}, [np.array([-8.0, 4, 1, 3, 0.25, -1])]
    yield 'pow', [np.array([-0.0, -0.0, -INF, -INF, -INF, 0, -2, INF]), np.array([0.5, -2.5, 0.5, -0.5, 3, -1.5, 0.5, 0.5])], {}, [np.array([0, INF, INF, 0, -INF, INF, NAN, INF])]
    yield 'add', [np.array([127, -128], np.int8), np.array([1, -1], np.int8)], {}, [np.array([-128, 127], np.int8)]
    yield 'mul', [np.array([2 ** 40 + 3, -5]), np.array([-7, 2 ** 33])], {}, [np.array([2 ** 40 + 3, -5]) * np.array([-7, 2 ** 33])]
    yield 'is_nan', [np.array([NAN, INF, 0])], {}, [np.array([True, False, False])]
    yield 'is_infinite', [np.array([NAN, -INF, 0])], {}, [np.array([False, True, False])]
    yield 'logical_xor', [np.array([0, 1, 2], np.uint8), np.array([1, 1, 0], np.uint8)], {}, [np.array([True, False, True])]
    yield 'clamp', [x], {'min_value': -1.5, 'max_value': 1.25}, [np.clip(x, -1.5, 1.25)]
    yield 'clamp', [np.array([-9, 0, 9])], {'max_value': 4.0}, [np.array([-9, 0, 4])]
    yield 'cast', [np.array([-1.75, 300, INF, 3e9])], {'type': 'u8'}, [np.array([0, 255, 255, 255], np.uint8)]
    yield 'cast', [np.array([NAN, -300, 300, -1.75])], {'type': 'i8'}, [np.array([0, -128, 127, -1], np.int8)]
    yield 'cast', [np.array([NAN, -1, 1e9])], {'type': 'u8'}, [np.array([0, 0, 255], np.uint8)]
    yield 'hard_swish', [np.array([3e38, -3e38, 1])], {}, [np.array([3e38, 0, 2 / 3])]
    yield 'arg_max', [np.array([[1.0, 3, 3], [2, 2, 1]])], {'axis': 1}, [np.array([1, 0], np.int32)]
    yield 'arg_min', [np.array([[1.0, 3, 1], [2, 2, 1]])], {'axis': 0, 'keep_dimensions': True, 'output_data_type': 'i64'}, [np.array([[0, 1, 0]])]
    reduced = {'reduce_sum': np.sum, 'reduce_mean': np.mean, 'reduce_max': np.max, 'reduce_min': np.min, 'reduce_product': np.prod, 'reduce_l1': lambda v, axis, keepdims: np.abs(v).sum(axis=axis, keepdims=keepdims),
               'reduce_l2': lambda v, axis, keepdims: np.sqrt((v * v).sum(axis=axis, keepdims=keepdims)), 'reduce_sum_square': lambda v, axis, keepdims: (v * v).sum(axis=axis, keepdims=keepdims),
               'reduce_log_sum_exp': lambda v, axis, keepdims: special.logsumexp(v, axis, keepdims=keepdims)}
    for op, fn in reduced.items():
        v = f(3, 4, 2)
        yield op, [v], {'axes': [2, 0]}, [fn(v, axis=(0, 2), keepdims=False)]
        yield op, [v], {'keep_dimensions': True}, [fn(v, axis=(0, 1, 2), keepdims=True)]
    yield 'reduce_log_sum_exp', [np.array([[-INF, -INF], [INF, 1], [INF, -INF], [-INF, 2]])], {'axes': [1]}, [np.array([-INF, INF, INF, 2])]
    for op, fn in (('reduce_sum', np.array), ('reduce_l1', np.abs), ('reduce_log_sum', np.log), ('reduce_max', np.array)):
        v = np.abs(f(2, 3)) + 0.5
        yield op, [v], {'axes': []}, [fn(v)]
    yield 'softmax', [y4], {'axis': 2}, [softmax(y4, 2)]
    yield 'cumulative_sum', [x], {'axis': 2, 'exclusive': True, 'reversed': True}, [np.flip(np.cumsum(np.flip(x, 2), 2), 2) - x]
    yield 'matmul', [f(2, 1, 3, 5), f(4, 5, 2)], {}, None
    c = f(5)
    a, b = f(4, 3), f(5, 4)
    yield 'gemm', [a, b, c], {'alpha': 0.5, 'beta': 2.0, 'a_transpose': True, 'b_transpose': True}, [0.5 * a.T @ b.T + 2 * c]
    w = f(6, 1, 3, 2)
    v = f(1, 3, 9, 8)
    yield 'conv2d', [v, w], {'groups': 3, 'padding': [1, 2, 0, 1], 'strides': [2, 1], 'dilations': [1, 3]}, [conv2d(v, w, 3, (2, 1), (1, 3), (1, 2, 0, 1))]
    w, bias = f(2, 3, 3, 3), f(2)
    yield 'conv2d', [v.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), bias], {'input_layout': 'nhwc', 'filter_layout': 'hwio'}, [(conv2d(v, w) + bias[:, None, None]).transpose(0, 2, 3, 1)]
    w = f(3, 2, 3, 2)
    full = np.stack([sum(signal.convolve2d(v[0, i], w[i, o]) for i in range(3)) for o in range(2)])[None]
    yield 'conv_transpose2d', [v, w], {}, [full]
    yield 'conv_transpose2d', [v, w], {'padding': [1, 0, 1, 1]}, [full[:, :, 1:, 1:-1]]
    for strides, dilations, padding in (((1, 1), (1, 1), (0, 0, 0, 0)), ((2, 3), (1, 2), (1, 1, 2, 1))):
        more = {'window_dimensions': [3, 2], 'strides': list(strides), 'dilations': list(dilations), 'padding': list(padding)}
        at = [taken(y4, (3, 2), strides, dilations, padding, fill) for fill in (0, -INF)]
        inside = taken(np.ones_like(y4), (3, 2), strides, dilations, padding, 0).sum((-1, -2))
        yield 'average_pool2d', [y4], more, [at[0].sum((-1, -2)) / inside]
        yield 'average_pool2d', [y4], dict(more, count_include_pad=True), [at[0].mean((-1, -2))]
        yield 'l2_pool2d', [y4], more, [np.sqrt((at[0] ** 2).sum((-1, -2)))]
        yield 'max_pool2d', [y4], more, [at[1].max((-1, -2))]
    yield 'average_pool2d', [y4], {}, [y4.mean((2, 3), keepdims=True)]
    yield 'max_pool2d', [y4], {'window_dimensions': [2, 2], 'strides': [2, 2], 'output_shape_rounding': 'ceil'}, [np.pad(y4, [(0, 0), (0, 0), (0, 1), (0, 1)], constant_values=-INF).reshape(2, 3, 3, 2, 4, 2).max((3, 5))]
    mean, var, scale, bias = f(3), np.abs(f(3)) + 0.5, f(3), f(3)
    s = (slice(None), None, None)
    yield 'batch_normalization', [y4, mean, var, scale, bias], {}, [(y4 - mean[s]) / np.sqrt(var[s] + 1e-5) * scale[s] + bias[s]]
    yield 'instance_normalization', [y4, scale, bias], {}, [(y4 - y4.mean((2, 3), keepdims=True)) / np.sqrt(y4.var((2, 3), keepdims=True) + 1e-5) * scale[s] + bias[s]]
    gain = f(7, 3)
    yield 'layer_normalization', [y4, gain], {'axes': [3, 1], 'epsilon': 0.5}, [(y4 - y4.mean((1, 3), keepdims=True)) / np.sqrt(y4.var((1, 3), keepdims=True) + 0.5) * gain.T[:, None]]
    slope = f(3, 1)
    yield 'prelu', [x, slope], {}, [np.where(x < 0, slope * x, x)]
    i = np.array([[3, -1, 0], [1, 2, -4]], np.int64)
    v = f(2, 4, 3)
    yield 'gather', [v, i], {'axis': 1}, [v.take(i % 4, 1)]
    i = np.array([[[3, -1, 0]], [[1, 2, -4]]], np.int32)
    yield 'gather_elements', [v, i], {'axis': 1}, [np.take_along_axis(v, i.astype(np.int64) % 4, 1)]
    i = np.array([[1, 3], [0, -2]], np.int64)
    yield 'gather_nd', [v, i], {}, [v[[1, 0], [3, 2]]]
    yield 'scatter_nd', [v, i, f(2, 3)], {}, None
    yield 'one_hot', [np.array([2, 0], np.int64)], {'depth': 3}, [np.eye(3)[[2, 0]]]
    yield 'pad', [x], {'beginning_padding': [1, 0, 2], 'ending_padding': [0, 2, 1], 'mode': 'edge'}, [np.pad(x, [(1, 0), (0, 2), (2, 1)], 'edge')]
    yield 'pad', [x], {'beginning_padding': [0, 1, 2], 'ending_padding': [0, 2, 4], 'mode': 'reflection'}, [np.pad(x, [(0, 0), (1, 2), (2, 4)], 'reflect')]
    yield 'pad', [np.array([1, 2], np.int8)], {'beginning_padding': [1], 'ending_padding': [2], 'value': -3.0}, [np.array([-3, 1, 2, -3, -3], np.int8)]
    yield 'slice', [x], {'starts': [1, 0, 1], 'sizes': [1, 3, 4], 'strides': [1, 2, 3]}, [x[1:2, 0:3:2, 1:5:3]]
    yield 'split', [x], {'splits': [1, 3, 1], 'axis': 2}, np.split(x, [1, 4], 2)
    yield 'reverse', [x], {'axes': [0, 2]}, [np.flip(x, (0, 2))]
    yield 'reverse', [x], {'axes': []}, [x]
    yield 'tile', [f(2, 1)], {'repetitions': [2, 3]}, None
    yield 'transpose', [x], {}, [x.T]
    yield 'triangular', [x], {'upper': False, 'diagonal': -1}, [np.tril(x, -1)]
    yield 'expand', [f(3, 1)], {'new_shape': [2, 3, 2]}, None
    yield 'where', [np.array([[True], [False]]), f(3), np.array(2.0)], {}, None
    q = np.array([[0, 3, 255], [128, 7, 1]], np.uint8)
    yield 'dequantize_linear', [q, np.array([[0.5], [0.25]]), np.array([[128], [1]], np.uint8)], {}, [(q - np.array([[128.0], [1]])) * [[0.5], [0.25]]]
    v = np.array([[-80.0, 0.25, 0.75], [1.25, 1000, -0.25]])
    yield 'quantize_linear', [v, np.array(0.5), np.array(-3, np.int8)], {}, [np.clip(np.rint(v / 0.5) - 3, -128, 127).astype(np.int8)]
    v = f(1, 2, 2, 3)
    yield 'resample2d', [v], {'sizes': [4, 6]}, [v.repeat(2, 2).repeat(2, 3)]
    yield 'resample2d', [v], {'scales': [1.0, 2.0], 'mode': 'linear'}, [np.stack([np.interp((np.arange(6) + 0.5) / 2 - 0.5, range(3), row) for row in v.reshape(-1, 3)]).reshape(1, 2, 2, 6)]
    x, w, r, h, c, b, rb, p = f(3, 2), f(8, 2), f(8, 2), f(3, 2), f(3, 2), f(8), f(8), f(6)
    yield 'lstm_cell', [x, w, r, h, c, b, rb, p], {'hidden_size': 2}, list(lstm_cell(x, w, r, h, c, b, rb, p))
    steps = f(3, 3, 2)
    hs = h
    for k in range(3):
        hs = gru_cell(steps[k], w[:6], r[:6], hs, b[:6], rb[:6])
    yield 'gru_cell', [x, w[:6], r[:6], h, b[:6], rb[:6]], {'hidden_size': 2}, [gru_cell(x, w[:6], r[:6], h, b[:6], rb[:6])]
    yield 'gru', [steps, w[None, :6], r[None, :6], b[None, :6], rb[None, :6], h[None]], {'steps': 3, 'hidden_size': 2}, [hs[None]]


FREE = {'matmul': np.matmul, 'tile': lambda v: np.tile(v, (2, 3)), 'expand': lambda v: np.broadcast_to(v, (2, 3, 2)), 'where': np.where}


def scattered(v, i, u):
    v = v.copy()
    v[[1, 0], [3, 2]] = u
    return v


FREE['scatter_nd'] = scattered


def toml(v):
    return str(v).lower() if isinstance(v, bool) else str(v)


def names(gradus, op):
    """Operands and results of the op, from its signature."""
    text = open(os.path.join(os.environ.get('GRADUS_ROOT', '.'), 'catalog', op + '@1', 'op.toml')).read()
    text = text.partition('\n\n')[0]
    sides = text.partition('(')[2].partition('->')
    read = lambda s: [part.partition(':')[0].strip() for part in pieces(s) if ':' in part]
    return read(sides[0].partition(';')[0]), read(sides[2].partition(' where ')[0])


def pieces(s):
    out, depth = [''], 0
    for c in s:
        depth += (c in '[(') - (c in '])')
        if c == ',' and depth <= 0:
            out.append('')
        else:
            out[-1] += c
    return out


def main():
    gradus, only, n, bad = sys.argv[1], sys.argv[2:], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for k, (op, inputs, params, want) in enumerate(cases()):
            if op not in only if only else k % 6 and 'ASAN_OPTIONS' in os.environ:
                continue
            if want is None:
                want = [FREE[op](*inputs)]
            for mode in ('f32', 'f64') if any(v.dtype == np.float64 for v in inputs) and (only or k % 5 == 0) else ('f32',):
                n += 1
                why = run(gradus, folder, op, inputs, params, want, mode)
                bad += why is not None
                print('%sok %d - %s %s%s' % ('' if why is None else 'not ', n, mode, op, ''.join(' %s=%s' % kv for kv in params.items())))
                if why:
                    print('# ' + why[:500].replace('\n', '\n# '))
    print('1..%d' % n)
    return 1 if bad else 0


def run(gradus, folder, op, inputs, params, want, mode):
    """None when right, else what is wrong."""
    operands, results = names(gradus, op)
    call = [gradus, 'op', 'run', op, '--device', 'cpu', '-q', '--mode', mode]
    for name, v in zip(operands, inputs):
        path = os.path.join(folder, name + '.npy')
        np.save(path, v if v.dtype != np.float64 or mode == 'f64' else v.astype(np.float32))
        call += ['--in', '%s=%s' % (name, path)]
    for name, v in params.items():
        call += ['--set', '%s=%s' % (name, toml(v))]
    many = len(want) > len(results)
    outs = [os.path.join(folder, 'out%d.npy' % k) for k in range(len(want))]
    for k, path in enumerate(outs):
        call += ['--out', '%s=%s' % (results[0] if many else results[k], path)]
    p = subprocess.run(call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode:
        return p.stdout
    for path, w in zip(outs, want):
        got = np.load(path)
        if got.shape != w.shape:
            return 'shape %s, expected %s' % (got.shape, w.shape)
        if w.dtype != np.float64:
            if got.dtype != w.dtype or (got != w).any():
                return '%s, expected %s' % (got, w)
            continue
        rel, least = (2e-6, 5e-6) if mode == 'f32' else (1e-7, 1e-9)
        if not np.allclose(got, w, rel, least, equal_nan=True):
            return '%s, expected %s' % (got, w)
    return None


if __name__ == '__main__':
    sys.exit(main())
