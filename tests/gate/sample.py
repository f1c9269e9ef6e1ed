#!/usr/bin/env python3
"""A simulated trainer for the gate's tests. It does no work: its result says how long it "took".

  sample.py run CONFIG OUT    reads CONFIG (lines `key = value` under [table]s), writes OUT/result.toml
  sample.py check CONFIG      prints the configuration resolved, as JSON {"config": ...}
  sample.py check             the defaults

Elapsed: 100 s, less speed.gain per cent, with noise from the slot and attempt the gate names, so that it repeats.
SAMPLE_LEDGER=FILE: appends a line when it starts and one when it ends. SAMPLE_SLEEP: seconds to sleep in between.
"""
import hashlib
import json
import os
import sys
import time

DEFAULTS = {'speed': {'mode': 'plain', 'gain': 3.0, 'noise': 0.3}, 'quality': {'loss': 0.0}}


def read(path):
    out, table = {}, None
    for line in open(path):
        line = line.split('#')[0].strip()
        if line.startswith('['):
            table = out.setdefault(line.strip('[]'), {})
        elif line:
            key, _, value = line.partition('=')
            (out if table is None else table)[key.strip()] = json.loads(value.strip())
    return out


def resolved(path=None):
    config = json.loads(json.dumps(DEFAULTS))
    for table, keys in (read(path) if path else {}).items():
        for key, value in keys.items():
            if key not in config.get(table, {}):
                sys.exit('%s: unknown key %s.%s' % (path, table, key))
            config[table][key] = value
    return config


def noise(text):
    """About normal, from a hash: the mean of twelve uniform numbers."""
    h = hashlib.sha256(text.encode()).digest()
    return sum(b / 255 - 0.5 for b in h[:12])


def ledger(word):
    path = os.environ.get('SAMPLE_LEDGER')
    if path:
        with open(path, 'a') as f:
            f.write('%s %s %s\n' % (word, os.environ.get('GRADUS_GATE_SLOT'), os.environ.get('GRADUS_GATE_ATTEMPT')))


def main():
    if sys.argv[1] == 'check':
        print(json.dumps({'config': resolved(sys.argv[2] if len(sys.argv) > 2 else None)}))
        return 0
    config, out = resolved(sys.argv[2]), sys.argv[3]
    slot, attempt = os.environ.get('GRADUS_GATE_SLOT', 'alone'), os.environ.get('GRADUS_GATE_ATTEMPT', '1')
    ledger('start')
    time.sleep(float(os.environ.get('SAMPLE_SLEEP', '0')))
    if os.environ.get('SAMPLE_FAIL') == '%s %s' % (slot, attempt):
        return 7
    if os.environ.get('SAMPLE_WRONG') == 'flag':
        config['speed']['mode'] = 'plain'
    gain = config['speed']['gain'] if config['speed']['mode'] == 'quick' else 0
    elapsed = 100 * (1 - gain / 100) * (1 + config['speed']['noise'] / 100 * noise('t' + slot + attempt))
    psnr = 30 - (config['quality']['loss'] if config['speed']['mode'] == 'quick' else 0) + 0.05 * noise('q' + slot)
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, 'result.toml'), 'w') as f:
        f.write('[metrics]\nelapsed_s = %.6f\npsnr = %.6f\nssim = 0.97\nfinal_loss = 0.0123\nsplats = 1000\n' % (elapsed, psnr))
        for table, keys in config.items():
            f.write('\n[config.%s]\n' % table)
            for key, value in keys.items():
                f.write('%s = %s\n' % (key, json.dumps(value)))
    ledger('end')
    return 0


if __name__ == '__main__':
    sys.exit(main())
