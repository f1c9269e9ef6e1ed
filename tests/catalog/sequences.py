"""Cases of recurrent ops and of image filters: the formulas of WebNN and of Wang et al. in f64."""
import numpy as np

from arrays import TYPES, array, wide

SIG = lambda v: 1 / (1 + np.exp(-v))
ACT = {'sigmoid': SIG, 'tanh': np.tanh, 'relu': lambda v: np.maximum(v, 0)}


def gru_step(x, h, w, r, b, rb, after, layout, gate, act):
    n = h.shape[-1]
    at = {'z': 0 if layout == 'zrn' else 1, 'r': 1 if layout == 'zrn' else 0, 'n': 2}
    part = lambda a, g: a[at[g] * n:(at[g] + 1) * n]
    u = {g: x @ part(w, g).T + part(b, g) for g in 'zrn'}
    z, reset = (gate(u[g] + h @ part(r, g).T + part(rb, g)) for g in 'zr')
    s = reset * (h @ part(r, 'n').T + part(rb, 'n')) if after else (reset * h) @ part(r, 'n').T + part(rb, 'n')
    return (1 - z) * act(u['n'] + s) + z * h


def lstm_step(x, h, c, w, r, b, rb, peep, layout, gate, cell, out):
    n = h.shape[-1]
    part = lambda a, g: a[layout.index(g) * n:(layout.index(g) + 1) * n]
    u = {g: x @ part(w, g).T + part(b, g) + h @ part(r, g).T + part(rb, g) for g in 'iofg'}
    i, o, f = (gate(u[g] + peep[k * n:(k + 1) * n] * c) for k, g in enumerate('iof'))
    c = f * c + i * cell(u['g'])
    return o * out(c), c


def add(Case, dtypes, arr):
    """op -> function(op, signature) that yields cases."""
    def tol(t):
        return ((1e-5, 1e-5), (3e-5, 3e-5), (1e-6, 1e-6)) if t == 'f32' else ((2e-2, 2e-2), (2e-2, 2e-2), (1, 1))

    def recurrent(op, signature):
        lstm, cell = op.startswith('lstm'), op.endswith('cell')
        gates = 4 if lstm else 3
        for t in dtypes(signature):
            for k, (steps, batch, n, h) in enumerate([(1, 1, 1, 1), (3, 2, 4, 5), (4, 1, 70, 3), (5, 3, 2, 65), (2, 2, 3, 130), (0, 2, 3, 4), (3, 0, 2, 2)]):
                if cell and (steps == 0 or k > 4):
                    continue
                for way in ('forward', 'backward', 'both') if not cell else ('forward',):
                    d = 2 if way == 'both' else 1
                    lead = () if cell else (d,)
                    a = lambda shape, key, r=0.6: array(t, shape, op, key, low=-r, high=r)
                    x = a((batch, n) if cell else (steps, batch, n), 'x', 2)
                    w, r = a(lead + (gates * h, n), 'w'), a(lead + (gates * h, h), 'r', 1 / np.sqrt(h))
                    inputs = [('x', x), ('weight', w), ('recurrent_weight', r)]
                    zero = np.zeros((d, gates * h))
                    b, rb, peep, h0, c0 = zero, zero, np.zeros((d, 3 * h)), np.zeros((d, batch, h)), np.zeros((d, batch, h))
                    whole = lambda v: wide(v).reshape((d,) + v.shape[len(lead):])
                    if cell or k % 2:
                        v = a(lead + (batch, h), 'h')
                        inputs.append(('hidden_state' if cell else 'initial_hidden_state', v))
                        h0 = whole(v)
                    if lstm and (cell or k % 2 == 0):
                        v = a(lead + (batch, h), 'c')
                        inputs.append(('cell_state' if cell else 'initial_cell_state', v))
                        c0 = whole(v)
                    if k % 3 != 2:
                        v = a(lead + (gates * h,), 'b')
                        inputs.append(('bias', v))
                        b = whole(v)
                    if k % 3 != 1:
                        v = a(lead + (gates * h,), 'rb')
                        inputs.append(('recurrent_bias', v))
                        rb = whole(v)
                    if lstm and k % 2:
                        v = a(lead + (3 * h,), 'p')
                        inputs.append(('peephole_weight', v))
                        peep = whole(v)
                    params = {} if cell else {'direction': way, 'return_sequence': k % 2 == 0}
                    if k % 2:
                        params['layout'] = 'ifgo' if lstm else 'rzn'
                    if k == 2:
                        params.update({'cell_activation' if lstm else 'activation': 'relu'})
                        params['gate_activation'] = 'tanh'
                    if not lstm and k % 3 == 0:
                        params['reset_after'] = False
                    gate, act = ACT[params.get('gate_activation', 'sigmoid')], ACT[params.get('cell_activation' if lstm else 'activation', 'tanh')]
                    layout = params.get('layout', 'iofg' if lstm else 'zrn')
                    last, cells, every = h0.copy(), c0.copy(), np.zeros((steps, d, batch, h))
                    xs = wide(x)[None] if cell else wide(x)
                    for q in range(d):
                        order = range(1) if cell else range(steps) if q == 0 and way != 'backward' else range(steps - 1, -1, -1)
                        for s in order:
                            args = (whole(w)[q], whole(r)[q], b[q], rb[q])
                            if lstm:
                                last[q], cells[q] = lstm_step(xs[s], last[q], cells[q], *args, peep[q], layout, gate, act, np.tanh)
                            else:
                                last[q] = gru_step(xs[s], last[q], *args, params.get('reset_after', True), layout, gate, act)
                            if not cell:
                                every[s, q] = last[q]
                    want = [last[0] if cell else last] + ([cells[0] if cell else cells] if lstm else []) + ([every] if params.get('return_sequence') else [])
                    yield Case(op, inputs, params, [arr(v) for v in want], tol(t), wide=t == 'f32')

    def slopes(f, v):
        """Central differences of f, which gives a number, by every element of v."""
        out = np.zeros(v.shape)
        for at in np.ndindex(*v.shape):
            keep = v[at]
            v[at] = keep + 1e-5
            up = f()
            v[at] = keep - 1e-5
            out[at] = (up - f()) / 2e-5
            v[at] = keep
        return out

    def recurrent_gradient(op, signature):
        lstm = op.startswith('lstm')
        m = 4 if lstm else 3
        for k, (steps, batch, h, way) in enumerate([(1, 1, 1, 'forward'), (3, 2, 3, 'backward'), (2, 2, 4, 'both'), (0, 1, 2, 'forward'), (4, 1, 3, 'both')]):
            d = 2 if way == 'both' else 1
            a = lambda shape, key, r=0.8: array('f32', shape, op, key, low=-r, high=r)
            given, r, h0, c0 = a((d, steps, batch, m * h), 'g'), a((d, m * h, h), 'r', 1 / np.sqrt(h)), a((d, batch, h), 'h'), a((d, batch, h), 'c')
            extra = a((d, 3 * h), 'e')
            dh, dc, ds = a((d, batch, h), 'dh'), a((d, batch, h), 'dc'), a((steps, d, batch, h), 'ds')
            params = {'direction': way, 'layout': ('iofg', 'ifgo')[k % 2] if lstm else ('zrn', 'rzn')[k % 2]}
            if not lstm:
                params['reset_after'] = k % 3 != 1
            if k == 2:
                params['gate_activation'] = 'tanh'
            G, H, C, S = wide(given).copy(), wide(h0).copy(), wide(c0).copy(), np.zeros(given.shape)
            before, cells, gated = (np.zeros((d, steps, batch, h)) for _ in range(3))

            def whole():
                gate, loss = ACT[params.get('gate_activation', 'sigmoid')], 0.0
                for q in range(d):
                    hid, cell = H[q].copy(), C[q].copy()
                    for s in range(steps) if q == 0 and way != 'backward' else range(steps - 1, -1, -1):
                        before[q, s], cells[q, s] = hid, cell
                        eye, none = np.eye(m * h), np.zeros(m * h)
                        if lstm:
                            hid, cell = lstm_step(G[q, s], hid, cell, eye, wide(r)[q], none, none, wide(extra)[q], params['layout'], gate, np.tanh, np.tanh)
                        else:
                            at = 0 if params['layout'] == 'rzn' else h
                            reset = gate(G[q, s][:, at:at + h] + hid @ wide(r)[q, at:at + h].T + wide(extra)[q, at:at + h] + S[q, s][:, at:at + h])
                            gated[q, s] = hid if params['reset_after'] else reset * hid
                            # the recurrent bias of every sequence of the batch is its own, so that S moves what is taken from the state
                            hid = np.concatenate([gru_step(G[q, s, b:b + 1], hid[b:b + 1], eye, wide(r)[q], none, wide(extra)[q] + S[q, s, b], params['reset_after'], params['layout'], gate, np.tanh)
                                                  for b in range(batch)]) if batch else hid
                        loss += (wide(ds)[s, q] * hid).sum()
                    loss += (wide(dh)[q] * hid).sum() + ((wide(dc)[q] * cell).sum() if lstm else 0)
                return loss

            want = [slopes(whole, G)] + ([] if lstm else [slopes(whole, S)])
            last = [slopes(whole, H)] + ([slopes(whole, C)] if lstm else [])
            whole()
            states = [before.copy(), cells.copy() if lstm else gated.copy()]
            inputs = [('gates', given), ('recurrent_weight', r), ('peephole_weight' if lstm else 'recurrent_bias', extra), ('initial_hidden_state', h0)] + ([('initial_cell_state', c0)] if lstm else [])
            inputs += [('d_hidden', dh)] + ([('d_cell', dc)] if lstm else []) + [('d_sequence', ds)]
            yield Case(op, inputs, params, want + states + last, ((2e-5, 2e-5), (4e-5, 4e-5), (1e-6, 1e-6)), wide=True)

    def window(n, sigma):
        w = np.exp(-0.5 * ((np.arange(n) - n // 2) / np.float64(np.float32(sigma))) ** 2)
        return w / w.sum()

    def blur(x, n, sigma, padding):
        if padding == 'same_size':
            x = np.pad(x, [(0, 0)] * (x.ndim - 2) + [(n // 2, n // 2)] * 2)
        w = window(n, sigma)
        for axis in (-2, -1):
            size = x.shape[axis] - n + 1
            x = sum(w[k] * np.take(x, np.arange(k, k + size), axis) for k in range(n))
        return x

    places = [((5, 7), {'window': 3, 'sigma': 0.75}), ((2, 3, 20, 19), {}), ((1, 33, 40), {'padding': 'valid'}), ((40, 35), {'window': 33, 'sigma': 7.0}), ((2, 16, 16), {'window': 5, 'sigma': 1.0, 'padding': 'valid'}),
              ((11, 11), {'padding': 'valid'})]

    def gaussian_blur(op, signature):
        for t in dtypes(signature):
            for shape, params in places + [((0, 4, 4), {}), ((3, 4), {'window': 1, 'sigma': 2.0})]:
                x = array(t, shape, op)
                yield Case(op, [('x', x)], params, [blur(wide(x), params.get('window', 11), params.get('sigma', 1.5), params.get('padding', 'same_size'))], tol(t), wide=t == 'f32')
        yield Case(op, [('x', array('f32', (3, 3)))], {'sigma': 0.0}, 'contract/where-false')
        yield Case(op, [('x', array('f32', (3, 3)))], {'padding': 'valid'}, 'contract/underflow')

    def ssim(op, signature):
        for t in dtypes(signature):
            for shape, params in places:
                a, b = array(t, shape, op, 'a', low=0, high=1), array(t, shape, op, 'b', low=0, high=1)
                b = arr((a + b) / 2).astype(TYPES[t])
                f = lambda v: blur(v, params.get('window', 11), params.get('sigma', 1.5), params.get('padding', 'same_size'))
                x, y = wide(a), wide(b)
                ma, mb = f(x), f(y)
                va, vb, vab = f(x * x) - ma * ma, f(y * y) - mb * mb, f(x * y) - ma * mb
                m = (2 * ma * mb + 1e-4) * (2 * vab + 9e-4) / ((ma ** 2 + mb ** 2 + 1e-4) * (va + vb + 9e-4))
                yield Case(op, [('a', a), ('b', b)], params, [m, arr(m.mean())], ((2e-4, 2e-4), (2e-4, 2e-4), (1e-5, 1e-5)) if t == 'f32' else tol(t), wide=t == 'f32')
        yield Case(op, [('a', array('f32', (10, 12))), ('b', array('f32', (10, 12)))], {'padding': 'valid'}, 'contract/where-false')

    return {'gru_gradient': recurrent_gradient, 'lstm_gradient': recurrent_gradient, 'gru': recurrent, 'gru_cell': recurrent, 'lstm': recurrent, 'lstm_cell': recurrent, 'gaussian_blur': gaussian_blur, 'ssim': ssim}
