#!/usr/bin/env python3
"""A training step of examples/train_digits_cnn.json beside PyTorch's on the same GPU, in one run: `train-beside-torch.py GRADUS [ROOT]`.

Both sides train the same network on batches of 64 digits with AdamW. Ours: `gradus train` for 200 and for 1,200 steps, without evaluation or
checkpoints; the difference in time over 1,000 is a step, host work, loss readback and batches included. PyTorch's: the step captured once as a
CUDA graph and replayed, the batch copied into its place and the loss read back every time. f32 without TF32. Says `skipped` with a reason when
there is no PyTorch, no CUDA device or no adapter. ROOT is where examples/ and catalog/ are (default: this repository).
"""
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FEW, MANY = 200, 1200


def document(root, folder):
    """The example without what is not a step."""
    d = json.load(open(os.path.join(root, 'examples', 'train_digits_cnn.json')))
    for node in d['nodes']:
        if node.get('file'):
            node['file'] = os.path.join(root, 'examples', node['file'])
        if node.get('block') == 'train':
            for key in ('evaluate', 'stop', 'checkpoint'):
                node.pop(key, None)
            node['epochs'] = 1 + MANY // 20
    path = os.path.join(folder, 'cnn.json')
    json.dump(d, open(path, 'w'))
    return path


def our_step(gradus, root, tier):
    with tempfile.TemporaryDirectory() as folder:
        path = document(root, folder)
        took = []
        for steps in (FEW, MANY):
            best = None
            for _ in range(3):
                begin = time.perf_counter()
                p = subprocess.run([gradus, 'train', path, '--device', 'gpu', '--tier', tier, '--steps', str(steps), '--out', os.path.join(folder, 'out'), '-q'],
                                   env=dict(os.environ, GRADUS_ROOT=root), capture_output=True, text=True)
                if p.returncode:
                    return None, (p.stderr.strip().splitlines() or ['failed'])[0]
                took_now = time.perf_counter() - begin
                best = took_now if best is None else min(best, took_now)
            took.append(best)
        return (took[1] - took[0]) / (MANY - FEW), None


def torch_step(torch):
    f = torch.nn.functional
    torch.manual_seed(7)
    layers = torch.nn.Sequential(torch.nn.Conv2d(1, 16, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(),
                                 torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(512, 10)).cuda()
    optimizer = torch.optim.AdamW(layers.parameters(), lr=4e-3, weight_decay=1e-3, capturable=True)
    x, y = torch.zeros(64, 1, 8, 8, device='cuda'), torch.zeros(64, dtype=torch.long, device='cuda')
    images, labels = torch.rand(1797, 1, 8, 8).pin_memory(), torch.randint(0, 10, (1797,)).pin_memory()

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = f.cross_entropy(layers(x), y)
        loss.backward()
        optimizer.step()
        return loss
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()

    def run(n):
        begin = time.perf_counter()
        for i in range(n):
            at = (i * 64) % 1700
            x.copy_(images[at:at + 64], non_blocking=True)
            y.copy_(labels[at:at + 64], non_blocking=True)
            graph.replay()
            loss.item()
        torch.cuda.synchronize()
        return time.perf_counter() - begin
    run(FEW)
    return min(run(MANY) for _ in range(3)) / MANY


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    root = sys.argv[2] if len(sys.argv) > 2 else os.path.dirname(os.path.dirname(HERE))
    ours = {}
    for tier in ('debug', 'prod'):
        ours[tier], why = our_step(sys.argv[1], root, tier)
        if ours[tier] is None:
            print('skipped: ' + why)
            return
        print('gradus, %-5s  %8.1f us a step' % (tier, ours[tier] * 1e6), flush=True)
    print('debug / prod    %8.2f   target at most 2' % (ours['debug'] / ours['prod']))
    try:
        import torch
    except ImportError:
        print('skipped: no PyTorch')
        return
    if not torch.cuda.is_available():
        print('skipped: PyTorch finds no CUDA device')
        return
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    theirs = torch_step(torch)
    print('PyTorch, graph  %8.1f us a step' % (theirs * 1e6))
    print('PyTorch / ours  %8.2f   target at least 1' % (theirs / ours['prod']))


if __name__ == '__main__':
    main()
