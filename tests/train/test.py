#!/usr/bin/env python3
"""Training at the command line, as TAP: every example on the oracle and on WebGPU, the same bits twice, kills and Ctrl-C, and
a perceptron written again in NumPy, compared step by step.

  test.py             at reduced length (make test)
  test.py --whole     every example to its end, with the accuracy that it must reach (make soak)
"""
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRADUS = os.environ.get('GRADUS_EXE', os.path.join(ROOT, 'build', 'cli', 'gradus'))
TMP = tempfile.mkdtemp(prefix='gradus-train-')
ENV = dict(os.environ, GRADUS_ROOT=ROOT)
count = 0
failed = 0

# name: steps at reduced length, bound of the curves' difference; whole: quantity, least or greatest, bound
EXAMPLES = {
    'train_iris': (20, 1e-4, ('accuracy', 0.93)),
    'train_digits_mlp': (8, 1e-4, ('accuracy', 0.96)),
    'train_digits_cnn': (3, 1e-4, ('accuracy', 0.98)),
    'train_despike': (4, 1e-4, ('loss', None)),
    'train_letters': (2, 1e-4, ('loss', 2.6)),
}


def check(name, ok, detail='', skip=None):
    global count, failed
    count += 1
    failed += not ok and not skip
    print('%sok %d - %s%s' % ('' if ok or skip else 'not ', count, name, ' # SKIP ' + skip if skip else ''), flush=True)
    if not ok and not skip:
        for line in str(detail).strip().split('\n')[-20:]:
            print('# ' + line)


def command(name, out, *args):
    document = name if name.endswith('.json') else os.path.join(ROOT, 'examples', name + '.json')
    return [GRADUS, 'train', document, '--out', os.path.join(TMP, out), '-q'] + list(args)


def train(name, out, *args):
    p = subprocess.run(command(name, out, *args), cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors='replace', timeout=3000)
    return p.returncode, p.stdout + ('' if '--json' in args and p.returncode == 0 else p.stderr)


def table(out, name='curve.csv'):
    path = os.path.join(TMP, out, name)
    if not os.path.exists(path):
        return []
    return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(open(path))]


def record(out):
    return json.load(open(os.path.join(TMP, out, 'train.json')))


def have_gpu():
    p = subprocess.run([GRADUS, 'profile', '--json'], cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    return p.returncode == 0


def agree(a, b, bound):
    """The largest difference of the loss relative to it, over steps."""
    worst = max((abs(x['loss'] - y['loss']) / max(abs(x['loss']), 1e-3) for x, y in zip(a, b)), default=1)
    return len(a) == len(b) > 0 and worst <= bound, 'worst relative difference %g in %d and %d steps' % (worst, len(a), len(b))


def check_bytes(name, device, code, text):
    """What the plans foresee against the bytes of buffers that a training really makes: all of its plans, parameters and states once."""
    made = json.loads(text) if code == 0 else {}
    planned, created = made.get('planned_bytes', 0), made.get('created_bytes', 0)
    check('%s: created bytes are the planned ones, %s' % (name, device), planned > 0 and abs(created - planned) <= min(planned // 20, 1 << 20), text if code else made)


def examples(gpu):
    for name, (steps, bound, _) in EXAMPLES.items():
        cut = ('--steps', str(steps))
        code, text = train(name, name, '--device', 'cpu', '--json', *cut)
        check(name + ' on the oracle', code == 0 and len(table(name)) == steps, text)
        check_bytes(name, 'cpu', code, text)
        if not gpu:
            check(name + ' on WebGPU', False, skip='no WebGPU adapter here')
            continue
        code, text = train(name, name + '-gpu', '--device', 'gpu', '--json', *cut)
        check(name + ' on WebGPU', code == 0, text)
        check_bytes(name, 'gpu', code, text)
        check(name + ': both curves agree', *agree(table(name), table(name + '-gpu'), bound))
    for device in ['cpu'] + ['gpu'] * gpu:
        hashes = []
        for i in range(2):
            code, text = train('train_digits_mlp', 'twice-%s-%d' % (device, i), '--device', device, '--steps', '12')
            hashes.append(record('twice-%s-%d' % (device, i))['training']['parameters_hash'] if code == 0 else text)
        check('the same parameters twice in the debug tier, ' + device, hashes[0] == hashes[1] and hashes[0].startswith('sha256:'), hashes)


def mixed(gpu):
    """Mixed precision: near the same curve, the same on both executors within f16, and refused by name where an adapter has no f16."""
    doc = json.load(open(os.path.join(ROOT, 'examples', 'train_digits_mlp.json')))
    for n in doc['nodes']:
        if n['id'] == 'table':
            n['file'] = os.path.join(ROOT, 'examples', 'data', 'digits.csv')
        if n['id'] == 'fit':
            n.update(precision='mixed', clip={'norm': 1})
    path = os.path.join(TMP, 'mixed.json')
    json.dump(doc, open(path, 'w'))
    for n in doc['nodes']:
        n.pop('precision', None)
    full = os.path.join(TMP, 'full.json')
    json.dump(doc, open(full, 'w'))
    cut = ('--steps', '12')
    train(full, 'full', '--device', 'cpu', *cut)
    code, text = train(path, 'mixed', '--device', 'cpu', *cut)
    check('mixed precision on the oracle', code == 0 and table('mixed') != table('full'), text)
    check('mixed precision: near the curve in f32', *agree(table('mixed'), table('full'), 5e-3))
    if not gpu:
        check('mixed precision on WebGPU', False, skip='no WebGPU adapter here')
        return
    code, text = train(path, 'mixed-gpu', '--device', 'gpu', '--json', *cut)
    if code and 'kernel/no-f16' in text:
        check('mixed precision is refused: the adapter has no f16', True)
        return
    check('mixed precision on WebGPU', code == 0, text)
    check_bytes('mixed precision', 'gpu', code, text)
    check('mixed precision: both curves agree', *agree(table('mixed'), table('mixed-gpu'), 5e-3))


def interrupted(number, out, after):
    """Starts a long training and sends a signal when its checkpoint is there. The exit code and what it said."""
    p = subprocess.Popen(command(os.path.join(TMP, 'long.json'), out, '--device', 'cpu', '--threads', '1'), cwd=ROOT, env=ENV, stdin=subprocess.DEVNULL,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    path = os.path.join(TMP, out, 'checkpoint.safetensors')
    end = time.monotonic() + 60
    while time.monotonic() < end and p.poll() is None and not os.path.exists(path):
        time.sleep(0.01)
    time.sleep(after)
    p.send_signal(number)
    text = p.communicate(timeout=120)[0]
    return p.returncode, text


def signals():
    """A training cut by a kill or by Ctrl-C goes on to the bits of one that was not."""
    doc = json.load(open(os.path.join(ROOT, 'examples', 'train_iris.json')))
    for n in doc['nodes']:
        if n['id'] == 'table':
            n['file'] = os.path.join(ROOT, 'examples', 'data', 'iris.csv')
        if n['id'] == 'fit':
            n.update(epochs=400, checkpoint={'every': 25})
            n['evaluate']['every'] = 50
    json.dump(doc, open(os.path.join(TMP, 'long.json'), 'w'))
    code, text = train(os.path.join(TMP, 'long.json'), 'long-whole', '--device', 'cpu')
    whole = record('long-whole')['training'] if code == 0 else text
    for name, number, code_wanted in (('a kill', signal.SIGKILL, -9), ('Ctrl-C', signal.SIGINT, 0)):
        out = 'long-%d' % number
        code, text = interrupted(number, out, 0.15)
        check(name + ' ends a training in the middle', code == code_wanted and (number == signal.SIGKILL or 'stopped after step' in text), '%d %s' % (code, text))
        left = [f for f in os.listdir(os.path.join(TMP, out)) if f.startswith('checkpoint') and f != 'checkpoint.safetensors' and number != signal.SIGKILL]
        code, text = train(os.path.join(TMP, 'long.json'), out, '--device', 'cpu', '--resume')
        got = record(out)['training'] if code == 0 else text
        check(name + ': resumed it is the whole one bit for bit', code == 0 and got == whole and not left, '%s\n%s\n%s' % (got, whole, left))
        same = all(open(os.path.join(TMP, o, 'curve.csv')).read() == open(os.path.join(TMP, 'long-whole', 'curve.csv')).read() for o in (out,))
        check(name + ': the curve too', same)


def in_numpy():
    """The digits' perceptron by its formulas: data, order of rows and first parameters are taken from the run, all else is done again."""
    try:
        import numpy as np
    except ImportError:
        check('a perceptron again in NumPy', False, skip='no NumPy here')
        return
    steps = 12
    doc = json.load(open(os.path.join(ROOT, 'examples', 'train_digits_mlp.json')))
    for n in doc['nodes']:
        if n['id'] == 'table':
            n['file'] = os.path.join(ROOT, 'examples', 'data', 'digits.csv')
        if n['id'] == 'fit': # rows in the given order, so that nothing of the generator is needed
            n['batch']['order'] = 'given'
            n['evaluate'] = {'part': 0.2, 'rows': 'last'}
    path = os.path.join(TMP, 'mlp.json')
    json.dump(doc, open(path, 'w'))
    p = subprocess.run([GRADUS, 'explain', path, '--rung', 'canvas'], capture_output=True, text=True, env=ENV)
    code, text = train(path, 'mlp', '--device', 'cpu', '--steps', str(steps))
    first = first_parameters(path)
    if code or p.returncode or first is None:
        check('a perceptron again in NumPy', False, text + p.stderr)
        return
    rows = np.loadtxt(os.path.join(ROOT, 'examples', 'data', 'digits.csv'), delimiter=',', skiprows=skip_header())
    n_train = len(rows) - int(np.floor(len(rows) * 0.2 + 0.5))
    per_epoch = -(-n_train // 64)
    total = 20 * per_epoch
    w = {k: first[k].astype(np.float64) for k in ('w1', 'b1', 'w2', 'b2')}
    m = {k: 0 * v for k, v in w.items()}
    v = {k: 0 * x for k, x in w.items()}
    worst = 0
    curve = table('mlp')
    for step in range(steps):
        x = rows[step * 64:step * 64 + 64]
        label = x[:, 64].astype(int)
        x = x[:, :64] / 16
        hidden = x @ w['w1'] + w['b1']
        active = np.maximum(hidden, 0)
        logits = active @ w['w2'] + w['b2']
        e = np.exp(logits - logits.max(1, keepdims=True))
        p = e / e.sum(1, keepdims=True)
        loss = -np.log(p[np.arange(64), label]).mean()
        accuracy = (logits.argmax(1) == label).mean()
        worst = max(worst, abs(loss - curve[step]['loss']) / loss, abs(accuracy - curve[step]['accuracy']))
        d = p.copy()
        d[np.arange(64), label] -= 1
        d /= 64
        back = (d @ w['w2'].T) * (hidden > 0)
        g = {'w2': active.T @ d, 'b2': d.sum(0), 'w1': x.T @ back, 'b1': back.sum(0)}
        at = step - 20
        rate = 0.01 * (step + 1) / 20 if at < 0 else 0.0001 + (0.01 - 0.0001) * 0.5 * (1 + np.cos(np.pi * at / (total - 20 - 1)))
        for k in w:
            m[k] = 0.9 * m[k] + 0.1 * g[k]
            v[k] = 0.999 * v[k] + 0.001 * g[k] ** 2
            w[k] = w[k] - rate * (m[k] / (1 - 0.9 ** (step + 1))) / (np.sqrt(v[k] / (1 - 0.999 ** (step + 1))) + 1e-8)
    check('a perceptron again in NumPy: loss and accuracy of %d steps' % steps, worst < 2e-5, 'worst difference %g' % worst)
    last = max(np.abs(np.load(os.path.join(TMP, 'mlp', 'parameters', k + '.npy')) - w[k]).max() for k in w)
    check('a perceptron again in NumPy: its parameters', last < 2e-4, 'worst difference %g' % last)


def skip_header():
    first = open(os.path.join(ROOT, 'examples', 'data', 'digits.csv')).readline()
    return 0 if first.split(',')[0].strip().replace('.', '').isdigit() and len(first.split(',')) == 65 else 1


def first_parameters(path):
    """Initial values, as a document that gives them out."""
    import numpy as np
    doc = json.load(open(path))
    parameters = [n['id'] for n in doc['nodes'] if n.get('block') == 'parameter']
    nodes = [n for n in doc['nodes'] if n['id'] in parameters]
    nodes += [{'id': 'same_' + k, 'op': 'identity'} for k in parameters] + [{'id': 'out_' + k, 'block': 'output', 'files': [k + '.npy']} for k in parameters]
    links = [x for k in parameters for x in ({'from': k, 'to': 'same_' + k}, {'from': 'same_' + k, 'to': 'out_' + k})]
    json.dump(dict(gradus='canvas/1', tier='debug', seed=doc['seed'], nodes=nodes, links=links), open(os.path.join(TMP, 'first.json'), 'w'))
    p = subprocess.run([GRADUS, 'run', os.path.join(TMP, 'first.json'), '--device', 'cpu', '-q', '--out', os.path.join(TMP, 'first')], env=ENV, capture_output=True, text=True)
    if p.returncode:
        print('# ' + p.stderr)
        return None
    return {k: np.load(os.path.join(TMP, 'first', k + '.npy')) for k in parameters}


def whole(gpu):
    for name, (_, _, (quantity, bound)) in EXAMPLES.items():
        for device in ['cpu'] + ['gpu'] * gpu:
            out = 'whole-%s-%s' % (name, device)
            code, text = train(name, out, '--device', device, '--allow-heavy-cpu')
            rows = table(out, 'evaluation.csv')
            values = [r[quantity] for r in rows] or [float('nan')]
            if quantity == 'accuracy':
                ok, got = max(values) >= bound, max(values)
            elif bound is None:
                ok, got = values[-1] < values[0], '%g after %g' % (values[-1], values[0])
            else:
                ok, got = min(values) <= bound, min(values)
            check('%s to its end on %s: %s %s' % (name, device, quantity, got), code == 0 and ok, text)
    code, text = train('train_digits_cnn', 'cnn-again', '--device', 'cpu')
    a, b = record('whole-train_digits_cnn-cpu')['training'], record('cnn-again')['training'] if code == 0 else text
    check('train_digits_cnn twice: the same parameters', a == b, '%s\n%s' % (a, b))


def main():
    gpu = have_gpu()
    if '--whole' in sys.argv:
        whole(gpu)
    else:
        examples(gpu)
        mixed(gpu)
        signals()
        in_numpy()
    print('1..%d' % count)
    subprocess.run(['rm', '-rf', TMP])
    sys.exit(1 if failed else 0)


main()
