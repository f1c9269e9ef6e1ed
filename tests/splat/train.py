#!/usr/bin/env python3
"""Trainings at the command line, as TAP: tiny scenes on the oracle and on WebGPU, the same bits however the work is ordered and wherever it is
broken off, and the faults that trainers are known for.

  train.py            at reduced length (make test)
  train.py --whole    three runs of 500 steps with one hash (make soak)
"""
import csv
import fcntl
import json
import math
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRADUS = os.environ.get('GRADUS_EXE', os.path.join(ROOT, 'build', 'cli', 'gradus'))
TMP = tempfile.mkdtemp(prefix='gradus-splat-')
ENV = dict(os.environ, GRADUS_ROOT=ROOT, GRADUS_DEVICE_LOCK=os.path.join(TMP, 'lock'))
TINY = ['refine.cap_max=260', 'refine.every=5', 'refine.start=10', 'train.sh_every=10', 'train.log_every=10']
count = 0
failed = 0


def check(name, ok, detail='', skip=None):
    global count, failed
    count += 1
    failed += not ok and not skip
    print('%sok %d - %s%s' % ('' if ok or skip else 'not ', count, name, ' # SKIP ' + skip if skip else ''), flush=True)
    if not ok and not skip:
        for line in str(detail).strip().split('\n')[-20:]:
            print('# ' + line)


def run(*args, timeout=300, **env):
    p = subprocess.run([GRADUS, 'splat'] + list(args), cwd=TMP, env=dict(ENV, **env), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=timeout)
    return p.returncode, p.stdout, p.stderr


def settings(keys):
    return [word for key in keys for word in ('--set', key)]


def train(config, out, device, *keys, verb='train'):
    """The result as printed, or None, and everything that was said."""
    code, said, errors = run(verb, config, '--out', out, '--device', device, '--json', *settings(TINY + list(keys)))
    return (json.loads(said) if code == 0 else None), 'code %d\n%s%s' % (code, said, errors)


def losses(out):
    with open(os.path.join(TMP, out, 'losses.csv')) as f:
        return [float(row['loss']) for row in csv.DictReader(f)]


def png(path, width, height, pixel, channels=3):
    rows = b''.join(b'\0' + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))
    chunk = lambda kind, data: struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    with open(path, 'wb') as f:
        f.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, {1: 0, 3: 2, 4: 6}[channels], 0, 0, 0)) + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


def hard_scene():
    """All at once: portrait and landscape, alpha, a mask, an all-black picture, points that coincide, one far away, a splat around a camera, a camera far away."""
    root = os.path.join(TMP, 'hard')
    for d in ('sparse/0', 'images', 'masks'):
        os.makedirs(os.path.join(root, d))
    with open(os.path.join(root, 'sparse/0/cameras.txt'), 'w') as f:
        f.write('1 PINHOLE 20 14 22 22 10 7\n2 PINHOLE 14 20 22 22 7 10\n')
    with open(os.path.join(root, 'sparse/0/images.txt'), 'w') as f:
        for i in range(8):
            away = 4000 if i == 7 else 4
            f.write('%d 1 0 0 0 %g 0 %g %d %d.png\n\n' % (i + 1, 0.1 * i, away, 1 + i % 2, i))
    with open(os.path.join(root, 'sparse/0/points3D.txt'), 'w') as f:
        points = [(0, 0, 0)] * 12 + [(0.3 * math.cos(k), 0.3 * math.sin(k), 0.1 * (k % 3)) for k in range(30)] + [(-0.1, 0, -4), (-0.1, 0, -3.995), (1e6, 0, 0)]
        for k, p in enumerate(points):
            f.write('%d %g %g %g %d 90 160 0\n' % (k + 1, *p, k * 5 % 256))
    for i in range(8):
        w, h = (20, 14) if i % 2 == 0 else (14, 20)
        if i == 3:
            png(os.path.join(root, 'images/3.png'), w, h, lambda x, y: (0, 0, 0))
        elif i == 4:
            png(os.path.join(root, 'images/4.png'), w, h, lambda x, y: (200, 50, 20, 255 if (x - 10) ** 2 + (y - 7) ** 2 < 20 else 0), 4)
        else:
            png(os.path.join(root, 'images/%d.png' % i), w, h, lambda x, y: (10 * x, 10 * y, 90))
    png(os.path.join(root, 'masks/5.png'), 14, 20, lambda x, y: (255 if x > 6 else 0,), 1)
    for name, more in (('adc', ''), ('mcmc', 'strategy = "mcmc"\n')):
        with open(os.path.join(root, name + '.toml'), 'w') as f:
            f.write('[data]\npath = "."\nbackground = "black"\n[train]\ntier = "debug"\nmax_steps = 24\n' + more)
    return root


def first_things(device):
    a, said = train('tiny/train.toml', 'a-' + device, device, 'train.max_steps=40', 'train.checkpoint_every=0')
    check('%s: a scene trains' % device, a is not None, said)
    if not a:
        return None
    loss = losses('a-' + device)
    check('%s: one loss a step, and the last epoch is below the first' % device, len(loss) == 40 and sum(loss[-5:]) < 0.9 * sum(loss[:5]), loss)
    check('%s: splats were added up to the cap' % device, a['splats'] == 260, a)
    files = ('result.toml', 'losses.csv', 'evaluation.csv', 'report.html', 'splats.ply', 'checkpoint.safetensors', 'test/000.png')
    missing = [f for f in files if not os.path.getsize(os.path.join(TMP, 'a-' + device, f))]
    check('%s: every file is there' % device, not missing, missing)
    return a


def order_of_work(device, a):
    for k, keys in enumerate((['backend.pipelining="off"', 'backend.host_schedule="off"', 'backend.ssim_reduce="host"'],
                              ['backend.host_schedule="backward_shadow"', 'backend.ssim_reduce="host_lagged"'])):
        b, said = train('tiny/train.toml', 'b-' + device, device, 'train.max_steps=40', 'train.checkpoint_every=0', *keys)
        check('%s: the same parameters with %s' % (device, ', '.join(keys)), b and b['parameters'] == a['parameters'], said)
        near = b and all(abs(x - y) <= 1e-4 * abs(x) for x, y in zip(losses('a-' + device), losses('b-' + device)))
        check('%s: the same losses within 1e-4' % device, near and len(losses('b-' + device)) == 40)


def chain(device):
    """MCMC, whose noise is drawn on the device: the same bits with and without the next forward in flight."""
    keys = ['train.strategy="mcmc"', 'train.max_steps=24', 'train.checkpoint_every=0']
    a, said = train('tiny/train.toml', 'm-' + device, device, *keys)
    b, more = train('tiny/train.toml', 'm-' + device, device, *keys, 'backend.pipelining="off"')
    c, most = train('tiny/train.toml', 'm-' + device, device, *keys, 'refine.noise=0')
    check('%s: mcmc gives the same parameters with pipelining off' % device, a and b and a['parameters'] == b['parameters'], said + more)
    check('%s: and others without noise' % device, c and a and a['parameters'] != c['parameters'], most)


def broken_off(device, a):
    args = [GRADUS, 'splat', 'train', 'tiny/train.toml', '--out', 'c-' + device, '--device', device] + settings(TINY + ['train.max_steps=40', 'train.checkpoint_every=0', 'train.log_every=1'])
    p = subprocess.Popen(args, cwd=TMP, env=ENV, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if line.startswith('step 17/'):
            p.send_signal(signal.SIGINT)
            break
    said, errors = p.communicate(timeout=120)
    done = len(losses('c-' + device))
    check('%s: Ctrl-C leaves a checkpoint' % device, p.returncode == 0 and 'stopped after' in said and 17 <= done < 40, said + errors)
    b, said = train('tiny/train.toml', 'c-' + device, device, 'train.max_steps=40', 'train.checkpoint_every=0', verb='resume')
    check('%s: resume goes on to the same bits' % device, b and b['parameters'] == a['parameters'] and losses('c-' + device) == losses('a-' + device), said)
    code, said, errors = run('resume', 'tiny/train.toml', '--out', 'c-' + device, '--device', device, *settings(TINY + ['train.max_steps=40', 'optim.scale=0.004']))
    check('%s: another configuration does not go on' % device, code == 2 and 'splat/checkpoint-config' in errors and 'optim.scale was 0.005' in errors, errors)


def looked_at(device, a):
    code, said, errors = run('eval', 'tiny/train.toml', '--out', 'a-' + device, '--device', device, '--json')
    e = json.loads(said) if code == 0 else {}
    check('%s: eval finds the PSNR of the training' % device, e and abs(e['psnr'] - a['psnr']) < 1e-9 and abs(e['ssim'] - a['ssim']) < 1e-9, said + errors)
    code, said, errors = run('render', 'a-%s/splats.ply' % device, '--orbit', '2', '--width', '24', '--out', 'f-' + device, '--device', device)
    check('%s: an orbit is rendered' % device, code == 0 and sorted(os.listdir(os.path.join(TMP, 'f-' + device))) == ['00000.png', '00001.png'], said + errors)


def faults(device):
    hard_scene()
    for name in ('adc', 'mcmc'):
        r, said = train('hard/%s.toml' % name, 'h-' + name, device, 'data.test_every=4')
        loss = losses('h-' + name) if r else []
        ok = len(loss) == 24 and all(math.isfinite(x) for x in loss) and math.isfinite(r['psnr'])
        check('%s: %s bears a hard scene' % (device, name), ok and 'splat/outlier-camera' in said, said)
        check('%s: %s learns of it' % (device, name), ok and sum(loss[-8:]) < sum(loss[:8]), loss)


def refusals():
    os.makedirs(os.path.join(TMP, 'empty'))
    with open(os.path.join(TMP, 'empty/train.toml'), 'w') as f:
        f.write('[data]\npath = "."\n[train]\ntier = "debug"\n')
    code, said, errors = run('train', 'empty/train.toml', '--device', 'cpu')
    check('no views: the folders are named', code == 2 and 'splat/no-views' in errors and 'sparse/0' in errors, errors)
    code, said, errors = run('resume', 'tiny/train.toml', '--out', 'nowhere', '--device', 'cpu')
    check('resume without a checkpoint says so', code in (2, 3) and 'nowhere/checkpoint.safetensors' in errors, errors)
    code, said, errors = run('render', 'tiny/train.toml')
    check('render of something else is refused', code == 2 and 'splat/unknown-file' in errors, errors)
    code, said, errors = run('train', 'tiny/train.toml', '--device', 'cpu', '--out', 'small', *settings(['backend.budget_mib=1', 'refine.cap_max=100000']))
    check('a memory that is too small is refused before the first step', code != 0 and not os.path.exists(os.path.join(TMP, 'small/losses.csv')), errors)
    code, said, errors = run('explain', 'tiny/train.toml', '--device', 'cpu', '--rung', 'graph', *settings(TINY))
    check('explain shows both plans', code == 0 and 'splat_project' in said and 'splat_adam' in said, said + errors)
    code, said, errors = run('bench', 'tiny/train.toml', '--device', 'cpu', '--steps', '6', '--warmup', '2', '--json', *settings(TINY))
    b = json.loads(said) if code == 0 else {}
    check('bench tells steps a second and stages', b.get('steps') == 6 and b['steps_per_s'] > 0 and b['peak_in_flight'] == 2 and 'raster' in b['stages_ms'], said + errors)


def waits_for_the_device():
    with open(ENV['GRADUS_DEVICE_LOCK'], 'a+') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        p = subprocess.Popen([GRADUS, 'splat', 'bench', 'tiny/train.toml', '--device', 'cpu', '--steps', '1', '--warmup', '0'], cwd=TMP, env=ENV, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        line = p.stderr.readline()
        waited = p.poll() is None
        fcntl.flock(lock, fcntl.LOCK_UN)
    said, errors = p.communicate(timeout=60)
    check('a training waits while another holds the device', 'waiting for the device' in line and waited and p.returncode == 0, line + errors)


def examples():
    shutil.copytree(os.path.join(ROOT, 'examples/splat'), os.path.join(TMP, 'examples'))
    for name in sorted(f for f in os.listdir(os.path.join(TMP, 'examples')) if f.endswith('.toml')):
        code, said, errors = run('check', 'examples/' + name, '--no-data', '--quiet')
        check('examples/splat/%s checks' % name, code == 0 and not errors, errors)


def gpu():
    p = subprocess.run([GRADUS, 'profile'], env=ENV, cwd=TMP, capture_output=True, text=True)
    return p.returncode == 0


def short(devices):
    examples()
    refusals()
    waits_for_the_device()
    for device in devices:
        a = first_things(device)
        if a:
            if device == 'gpu':
                order_of_work(device, a)
                chain(device)
            broken_off(device, a)
            looked_at(device, a)
    faults('cpu')


def whole(devices):
    for device in devices:
        hashes = set()
        for k in range(3):
            r, said = train('tiny/train.toml', 'w', device, 'train.max_steps=500', 'refine.start=100', 'refine.every=50', 'refine.cap_max=600')
            hashes.add(r['parameters'] if r else said)
        check('%s: one hash over three runs of 500 steps' % device, len(hashes) == 1, hashes)


def main():
    devices = ['cpu'] + (['gpu'] if gpu() else [])
    if 'gpu' not in devices:
        check('WebGPU', True, skip='no adapter')
    run('synth', 'tiny', '--width', '16', '--height', '16', '--views', '6', '--points', '60', '--shapes', '6', '--quiet')
    start = time.time()
    whole(devices) if '--whole' in sys.argv else short(devices)
    print('# %.1f s' % (time.time() - start))
    print('1..%d' % count)
    shutil.rmtree(TMP)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
