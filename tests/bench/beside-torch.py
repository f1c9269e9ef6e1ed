#!/usr/bin/env python3
"""Ops of the catalog beside PyTorch's on the same GPU, in one run: `beside-torch.py BENCH_OP [CASE ...]`.

BENCH_OP is build/tests/bench/bench_op. Both sides are medians of GPU time: ours by timestamp queries around every dispatch of the
call, PyTorch's by CUDA events around the call. f32 without TF32. Prints the ratio PyTorch / ours (1: as fast; more: faster) and its target,
and says `skipped` with a reason when there is no PyTorch, no CUDA device or no adapter.
"""
import json
import subprocess
import sys

ROUNDS = 20


def torch_seconds(torch, function):
    for _ in range(3):
        function()
    times = []
    for _ in range(ROUNDS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end) / 1e3)
    return sorted(times)[ROUNDS // 2]


def our_seconds(bench, words):
    p = subprocess.run([bench, '--rounds', str(ROUNDS)] + words, capture_output=True, text=True)
    if p.returncode:
        return None, (p.stderr.strip().splitlines() or ['failed'])[-1]
    r = json.loads(p.stdout)
    return r['gpu_s'], r['adapter']


def cases(torch):
    """name, our arguments, PyTorch's call, target for PyTorch / ours"""
    f = torch.nn.functional
    for n in (512, 1024, 2048, 4096):
        a, b = (torch.rand(n, n, device='cuda') for _ in range(2))
        yield 'matmul %d' % n, ['matmul', 'a=f32[%d,%d]' % (n, n), 'b=f32[%d,%d]' % (n, n)], lambda a=a, b=b: a @ b, 0.55 if n == 4096 else 0
    for rows, columns in ((8192, 4096), (65536, 256), (64, 1 << 20)):
        x = torch.rand(rows, columns, device='cuda')
        shape = 'f32[%d,%d]' % (rows, columns)
        at = ' %d x %d' % (rows, columns)
        yield 'softmax' + at, ['softmax', 'x=' + shape, 'axis=1'], lambda x=x: f.softmax(x, -1), 1 / 1.5
        yield 'layer_normalization' + at, ['layer_normalization', 'x=' + shape, 'axes=[1]'], lambda x=x: f.layer_norm(x, x.shape[1:]), 1 / 1.5
        yield 'reduce_sum, rows' + at, ['reduce_sum', 'x=' + shape, 'axes=[1]'], lambda x=x: x.sum(1), 0
        yield 'reduce_sum, columns' + at, ['reduce_sum', 'x=' + shape, 'axes=[0]'], lambda x=x: x.sum(0), 0
        yield 'reduce_max, rows' + at, ['reduce_max', 'x=' + shape, 'axes=[1]'], lambda x=x: x.amax(1), 0
    x, w = torch.rand(64, 64, 56, 56, device='cuda'), torch.rand(64, 64, 3, 3, device='cuda')
    yield 'conv2d 3x3, 64 x 64 x 56 x 56', ['conv2d', 'x=f32[64,64,56,56]', 'filter=f32[64,64,3,3]', 'padding=[1,1,1,1]'], lambda: f.conv2d(x, w, padding=1), 0


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    try:
        import torch
    except ImportError:
        print('skipped: no PyTorch here')
        return
    if not torch.cuda.is_available():
        print('skipped: PyTorch finds no CUDA device')
        return
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    said = False
    for name, words, theirs, target in cases(torch):
        if sys.argv[2:] and not any(w in name for w in sys.argv[2:]):
            continue
        seconds, adapter = our_seconds(sys.argv[1], words)
        if seconds is None:
            print('  %-44s failed: %s' % (name, adapter))
            continue
        if not said:
            print('PyTorch %s on %s over gradus on %s, medians of GPU time' % (torch.__version__, torch.cuda.get_device_name(), adapter))
            said = True
        t = torch_seconds(torch, theirs)
        verdict = '' if not target else '   target >= %.2f   %s' % (target, 'met' if t / seconds >= target else 'MISSED')
        print('  %-44s %8.3f   (%.1f us, %.1f us)%s' % (name, t / seconds, t * 1e6, seconds * 1e6, verdict), flush=True)


main()
