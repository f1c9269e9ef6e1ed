#!/usr/bin/env python3
"""Every op of the catalog against NumPy: on the oracle, on the GPU executor, and in f64.

  values.py DRIVER [OP ...]

Speaks TAP. A failing case prints what differs; `values.py build/tests/catalog/catalog-driver OP` runs one op.
Without NumPy everything is skipped; without an adapter the GPU part is.
"""
import os
import re
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    system = '/usr/bin/python3'
    if os.path.exists(system) and os.path.realpath(sys.executable) != os.path.realpath(system):
        os.execv(system, [system] + sys.argv)
    print('ok 1 - every op against NumPy # SKIP NumPy is missing (python3-numpy)\n1..1')
    sys.exit(0)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.dont_write_bytecode = True # tests leave nothing in the checkout
import arrays
import cases

ROOT = os.environ.get('GRADUS_ROOT') or os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOLERANCE = {'cpu': 0, 'gpu': 1, 'wide': 2}


def toml(v):
    if isinstance(v, bool):
        return 'true' if v else 'false'
    if isinstance(v, (list, tuple)):
        return '[' + ', '.join(toml(x) for x in v) + ']'
    return v if isinstance(v, str) else repr(v)


def write_cases(todo, folder):
    with open(folder + '/cases', 'w') as f, open(folder + '/data', 'wb') as data:
        for c in todo:
            f.write('case %s\n' % c.op)
            if c.tier:
                f.write('tier %s\n' % c.tier)
            for k, v in c.params.items():
                f.write('set %s=%s\n' % (k, toml(v)))
            for k, a in c.inputs:
                f.write('in %s %s %d %s %d %d\n' % (k, arrays.name(a), a.ndim, ' '.join(map(str, a.shape)), data.tell(), a.nbytes))
                data.write(np.ascontiguousarray(a).tobytes())
            f.write('run\n')


def read_answers(text, results, n):
    """One entry a case: a list of arrays, or the text of an error."""
    lines = iter(text.splitlines()[1:])
    answers = []
    for line in lines:
        if line.startswith('error '):
            answers.append(line[6:])
            continue
        outs = []
        for _ in range(int(line.split()[1])):
            w = next(lines).split()
            rank = int(w[2])
            shape, offset, size = tuple(map(int, w[3:3 + rank])), int(w[-2]), int(w[-1])
            outs.append(np.frombuffer(results, arrays.TYPES[w[1]], size // np.dtype(arrays.TYPES[w[1]]).itemsize, offset).reshape(shape))
        answers.append(outs)
    return answers + ['the driver stopped'] * (n - len(answers))


def verdict(c, answer, where):
    """None when right, else what is wrong."""
    if isinstance(c.expect, str):
        return None if isinstance(answer, str) and '"name":"%s' % c.expect in answer else 'expected %s, got %s' % (c.expect, answer)
    if isinstance(answer, str):
        return answer
    if len(answer) != len(c.expect):
        return '%d outputs, expected %d' % (len(answer), len(c.expect))
    rel, absolute = c.tolerance[TOLERANCE[where]]
    for got, want in zip(answer, c.expect):
        if where != 'wide' and got.dtype != c.out_dtype(want):
            return 'dtype %s, expected %s' % (got.dtype, c.out_dtype(want))
        why = arrays.differs(got, want, rel, absolute)
        if why:
            return why
    return None


class Tap:
    def __init__(self):
        self.n = self.bad = 0

    def line(self, ok, title, detail=None):
        self.n += 1
        self.bad += not ok
        print('%sok %d - %s' % ('' if ok else 'not ', self.n, title))
        if detail:
            print('# ' + detail[:600])


def run(tap, driver, where, todo):
    if not todo:
        return
    with tempfile.TemporaryDirectory() as folder:
        write_cases(todo, folder)
        p = subprocess.run([driver, where, folder + '/cases', folder + '/data', folder + '/results'], stdout=subprocess.PIPE, text=True,
                           env=dict(os.environ, GRADUS_ROOT=ROOT), timeout=500)
        first = p.stdout.partition('\n')[0]
        if first.startswith('none'):
            ok = where == 'gpu' and first.strip() == 'none'
            tap.line(ok, '%s # SKIP no adapter' % where if ok else where, None if ok else first)
            return
        with open(folder + '/results', 'rb') as f:
            answers = read_answers(p.stdout, f.read(), len(todo))
        if p.returncode:
            tap.line(False, '%s: the driver' % where, 'exit code %d' % p.returncode)
    for c, answer in zip(todo, answers):
        title = '%s %s' % (where, c.title())
        if isinstance(answer, str) and where == 'gpu' and c.uses('f16') and 'f16' in answer:
            tap.line(True, title + ' # SKIP the adapter has no f16')
            continue
        why = verdict(c, answer, where)
        tap.line(why is None, title, why)


def catalog_ops():
    ops = {}
    for folder in sorted(os.listdir(os.path.join(ROOT, 'catalog'))):
        path = os.path.join(ROOT, 'catalog', folder, 'op.toml')
        if os.path.exists(path):
            with open(path) as f:
                one, many = re.search(r"^signature = (?:\"(.*)\"|'''((?:.|\n)*?)''')$", f.read(), re.M).groups()
                ops[folder.split('@')[0]] = (one or many).replace('\\"', '"')
    return ops


def main():
    driver, only = sys.argv[1], sys.argv[2:]
    tap = Tap()
    todo = []
    for op, signature in catalog_ops().items():
        if only and op not in only:
            continue
        made = cases.make(op, signature)
        todo += made
        if not made and op not in cases.ELSEWHERE:
            tap.line(False, op, 'the op has no cases: add them to tests/catalog/cases.py')
    if 'ASAN_OPTIONS' in os.environ: # a build with sanitizers is slow: every fifth case
        todo = todo[::5]
    run(tap, driver, 'cpu', todo)
    run(tap, driver, 'gpu', [c for c in todo if c.gpu])
    run(tap, driver, 'wide', [c for c in todo if c.wide])
    print('1..%d' % tap.n)
    return 1 if tap.bad else 0


if __name__ == '__main__':
    sys.exit(main())
