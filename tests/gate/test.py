#!/usr/bin/env python3
"""The gate as a user meets it, on a simulated trainer. Speaks TAP."""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRADUS = os.environ.get('GRADUS_EXE', os.path.join(ROOT, 'build', 'cli', 'gradus'))
SAMPLE = os.path.join(ROOT, 'tests', 'gate', 'sample.py')
RUNNER = '%s -S %s run {config} {out}' % (sys.executable, SAMPLE)
RESOLVE = '%s -S %s check {config}' % (sys.executable, SAMPLE)
TMP = tempfile.mkdtemp(prefix='gradus-gate-')
ENV = dict(os.environ, GRADUS_ROOT=ROOT, GRADUS_DEVICE_LOCK=os.path.join(TMP, 'device.lock'), LC_ALL='C.UTF-8')
count = 0


def check(name, ok, detail=''):
    global count
    count += 1
    print('%sok %d - %s' % ('' if ok else 'not ', count, name), flush=True)
    if not ok:
        for line in str(detail).strip().split('\n')[-30:]:
            print('# ' + line)


def folder():
    return tempfile.mkdtemp(dir=TMP)


def gradus(*args, cwd, env=None, timeout=120):
    p = subprocess.run([GRADUS] + list(args), cwd=cwd, env=dict(ENV, **(env or {})), stdin=subprocess.DEVNULL, capture_output=True, text=True,
                       errors='replace', timeout=timeout)
    return p.returncode, p.stdout, p.stderr


def configs(cwd, off='mode = "plain"', on='mode = "quick"', both=''):
    for name, text in (('off', off), ('on', on)):
        with open(os.path.join(cwd, name + '.toml'), 'w') as f:
            f.write('[speed]\n%s\n%s\n' % (text, both))


def gate(cwd, *args, env=None):
    return gradus('gate', 'off.toml', 'on.toml', '--runner', RUNNER, '--resolve', RESOLVE, *args, cwd=cwd, env=env)


def series(cwd, name, file):
    return open(os.path.join(cwd, 'out', 'gate', name, file)).read()


def adoption():
    d = folder()
    configs(d)
    code, out, err = gate(d, '--name', 's', '--predict', '-4..-2', '--removed-work', '4', '--smoke')
    check('a gain of 3 % is adopted', code == 0 and 'verdict: adopt' in out and 'flag speed.mode: "plain" -> "quick"' in out, out + err)
    check('the prediction is compared', '-4 to -2 %' in out and 'as predicted' in out, out)
    check('the conversion rate is said', re.search(r'conversion: 7\d %', out), out)
    check('a smoke is labelled', 'not extrapolable' in out, out)
    check('progress goes to stderr', 'off-1' in err and 'smoke-off' in err.split('off-1')[0], err)
    check('the runs alternate', re.findall(r'^(\w+-\d)$', err, re.M) == ['off-1', 'on-1', 'off-2', 'on-2', 'off-3', 'on-3'], err)
    v = json.loads(series(d, 's', 'verdict.json'))
    check('the record is there', v['state'] == 'complete' and len(v['runs']) == 8 and all(r['ok'] and r['gpu_others'] >= -1 for r in v['runs']), v)
    check('the sentinel is there', 'state = "complete"' in series(d, 's', 'done'))
    run = series(d, 's', 'runs/off-1/1/run.toml')
    check('a run records load and power', 'load_before = [' in run and 'other_cores' in run and 'power_after = ' in run and 'psnr' in run, run)
    text = series(d, 's', 'series.toml')
    check('the registration holds rules, hashes and prediction', 'binary_hash = "sha256:' in text and '"speed.mode" = "plain"' in text and
          'low = -0.04' in text and 'removed_work = 0.04' in text, text)
    code, again, err = gate(d, '--name', 's', '--predict', '-4..-2', '--removed-work', '4', '--smoke')
    check('a complete series is shown again, not run again', code == 0 and again == out and 'off-1' not in err, err)
    code, again, err = gradus('gate', '--resume', 's', '--json', cwd=d)
    check('and by name, as JSON', code == 0 and json.loads(again) == v, err)
    code, out, err = gate(d, '--name', 's', '--predict', '-5..-2', '--removed-work', '4', '--smoke')
    check('a prediction cannot be changed afterwards', code == 2 and 'gate/series-differs' in err, err)


def verdicts():
    for title, both, args, want in (('no gain is rejected', 'gain = 0', (), 'verdict: reject'),
                                    ('a slower one is rejected', 'gain = -5', (), 'verdict: reject'),
                                    ('a gain under the noise is undecided', 'gain = 3\nnoise = 6', (), 'verdict: undecided'),
                                    ('a lost guard is rejected', '[quality]\nloss = 0.5', (), 'quality guard            breached'),
                                    ('within off\'s spread it is noise', '[quality]\nloss = 0.05', ('--gradients-untouched',), 'quality guard            noise'),
                                    ('unless gradients are touched', '[quality]\nloss = 0.05', (), 'quality guard            breached')):
        d = folder()
        configs(d, both=both)
        code, out, err = gate(d, '--name', 's', '-q', '--n', '4', *args)
        check(title, code == 0 and want in out and ('adopt' in out) == ('noise' in want), out + err)
        if 'noise' in want:
            check('and adopted', 'verdict: adopt' in out, out)
    d = folder()
    configs(d)
    code, out, err = gate(d, '--name', 's', '--sequential', '--max', '8', '--json')
    v = json.loads(out)
    check('a sequential series stops when it is safe', code == 0 and v['verdict']['decision'] == 'adopt' and 3 <= v['verdict']['pairs'] < 8 and
          abs(v['verdict']['alpha'] - 0.05 / 6) < 1e-12, out + err)
    configs(d, both='gain = 2.5\nnoise = 4')
    code, out, err = gate(d, '--name', 't', '--sequential', '--max', '5', '--json')
    check('and when the budget ends', json.loads(out)['verdict']['pairs'] == 5, out + err)


def refusals():
    d = folder()
    configs(d, on='mode = "quick"\ngain = 4')
    code, out, err = gate(d, '--name', 'a')
    check('two keys without --flag are refused', code == 2 and 'gate/flags-differ' in err and 'speed.gain' in err and 'speed.mode' in err, err)
    code, out, err = gate(d, '--name', 'a', '--flag', 'speed.mode')
    check('a key that is not named is refused', code == 2 and 'speed.gain differs and is not named' in err, err)
    code, out, err = gate(d, '--name', 'a', '--flag', 'speed.mode', '--flag', 'speed.gain', '-q')
    check('both named are taken', code == 0 and 'flag speed.gain: 3 -> 4' in out, out + err)
    code, out, err = gate(d, '--name', 'b', '--flag', 'speed.mode', '--flag', 'speed.gain', '--flag', 'speed.noise')
    check('a named key that does not differ is refused', code == 2 and 'speed.noise is named and does not differ' in err, err)
    configs(d, on='mode = "plain"')
    code, out, err = gate(d, '--name', 'c')
    check('equal configurations are refused', code == 2 and 'gate/flags-differ' in err, err)
    configs(d, on='mode = quick')
    code, out, err = gate(d, '--name', 'd')
    check('a configuration that does not parse is refused with its place', code == 2 and 'on.toml:2:' in err, err)
    configs(d, on='mode = "quick"', both='colour = 3')
    code, out, err = gate(d, '--name', 'e')
    check('a configuration that does not check is refused', code == 2 and 'gate/config-refused' in err and 'unknown key speed.colour' in err, err)
    configs(d)
    code, out, err = gate(d, '--name', 'f', '-q', env={'SAMPLE_WRONG': 'flag'})
    check('a run that resolves the flag otherwise ends the series', code == 2 and 'gate/flag-unresolved' in err and 'state = "failed"' in series(d, 'f', 'done'), err)
    code, out, err = gate(d, '--name', 'g', '-q', '--quality', 'lpips')
    check('a missing metric fails the runs', code == 3 and 'no metric lpips' in err, err)
    for args, word in ((('--predict', '3..1'), 'faster end'), (('--max', '5'), '--sequential'), (('--off', 'true'), 'go together'), (('--n', '0'), 'from 1'),
                       (('--name', '../x'), 'letters'), (('--calibrate', '5'), 'from 6'), (('--result', ''), 'read back')):
        code, out, err = gate(d, *args)
        check('%s is a user error' % ' '.join(args), code == 2 and word in err, out + err)
    code, out, err = gradus('gate', '--resume', 'nothing', cwd=d)
    check('nothing to resume is a user error', code in (2, 3) and 'series.toml' in err, err)
    code, out, err = gradus('gate', '--json', cwd=d)
    check('with --json a complaint is data', code == 2 and json.loads(out)['diagnostics'][0]['name'] == 'gate/usage', out + err)


def failures():
    d = folder()
    configs(d)
    code, out, err = gate(d, '--name', 's', env={'SAMPLE_FAIL': 'on-1 1'})
    check('a failed attempt is repeated and does not count', code == 0 and 'on-1 attempt 1 does not count: exit code 7' in out, out + err)
    check('and keeps its numbered log', os.path.exists(os.path.join(d, 'out/gate/s/runs/on-1/1/log.txt')) and 'ok = false' in series(d, 's', 'runs/on-1/1/run.toml'))
    check('and the next has its own', 'ok = true' in series(d, 's', 'runs/on-1/2/run.toml'))
    code, out, err = gradus('gate', '--off', 'true', '--on', 'exit 3', '--name', 'always', cwd=d)
    check('a command that always fails ends the series', code == 3 and 'on-1 failed 3 times' in err and 'state = "failed"' in series(d, 'always', 'done'), err)
    code, out, err = gradus('gate', '--off', 'kill -9 $$', '--on', 'true', '--name', 'killed', cwd=d)
    check('a signal is named', code == 3 and 'signal 9' in err, err)
    program = os.path.join(d, 'program')
    open(program, 'w').write('#!/bin/sh\ntest -e stop && echo "# changed" >>./program\nsleep 0.01\n')
    os.chmod(program, 0o755)
    code, out, err = gradus('gate', '--off', './program a', '--on', './program b', '--n', '2', '--name', 'same', cwd=d)
    check('an unchanged program', code == 0, err)
    open(os.path.join(d, 'stop'), 'w')
    code, out, err = gradus('gate', '--off', './program a', '--on', './program b', '--n', '2', '--name', 'void', cwd=d)
    check('a program that changes voids the series', code == 2 and 'gate/series-void' in err and 'state = "void"' in series(d, 'void', 'done'), err)
    open(os.path.join(d, 'data'), 'w').write('1')
    watched = ('gate', '--off', 'echo >>data; true', '--on', 'true', '--n', '2', '--watch', 'data', '--name', 'watched')
    code, out, err = gradus(*watched, cwd=d)
    check('a watched file that changes voids the series', code == 2 and 'gate/series-void' in err and 'a watched file changed' in err and 'data' in err, err)
    code, out, err = gradus('gate', '--off', 'true', '--on', 'true', '--n', '2', '--watch', 'data', '--name', 'still', cwd=d)
    check('one that does not change does nothing', code == 0 and 'watched = ["data"]' in series(d, 'still', 'series.toml'), err)
    code, out, err = gradus('gate', '--off', 'true', '--on', 'true', '--n', '2', '--name', 'still', cwd=d)
    check('and is part of what is registered', code == 2 and 'gate/series-differs' in err, err)
    code, out, err = gradus('gate', '--off', 'true', '--on', 'true', '--watch', 'absent', cwd=d)
    check('and must be there', code != 0 and 'absent' in err and 'watched file' in err, err)
    code, out, err = gradus('gate', '--resume', 'void', cwd=d)
    check('a void series stays void', code == 2 and 'gate/series-void' in err, err)


def commands():
    d = folder()
    code, out, err = gradus('gate', '--off', 'sleep 0.3', '--on', 'sleep 0.1', '--n', '3', '-q', '--json', cwd=d)
    check('two commands are timed by the clock', code == 0 and -0.9 < json.loads(out)['verdict']['all']['delta'] < 0, out + err)
    check('without a name the series is called by its time', len(os.listdir(os.path.join(d, 'out', 'gate'))) == 1)
    result = 'mkdir -p {out}; printf "[metrics]\\nelapsed_s = %s\\npsnr = 30\\n" >{out}/r.toml'
    code, out, err = gradus('gate', '--off', result % '2$GRADUS_GATE_ATTEMPT', '--on', result % '1.{pair}', '--result', '{out}/r.toml', '--quality', 'psnr',
                            '--name', 'r', '--json', cwd=d)
    v = json.loads(out) if code == 0 else {'runs': []}
    check('or by their result', [r['elapsed_s'] for r in v['runs'] if r['slot'].startswith('on')] == [1.1, 1.2, 1.3] and
          [r['elapsed_s'] for r in v['runs'] if r['slot'].startswith('off')] == [21, 21, 21], out + err)
    code, out, err = gradus('gate', '--off', 'true', '--on', 'true', '--n', '2', '--name', 'two', '-q', cwd=d)
    check('it is said that a series of two can retry nothing', code == 0 and 'gate/retry-blocked' in err, out + err)
    code, out, err = gradus('gate', '--off', 'true', '--on', 'true', '--n', '2', '--calibrate', '6', '--name', 'six', '-q', cwd=d)
    check('unless it is calibrated', code == 0 and 'gate/retry-blocked' not in err and 'calibration: 6 runs' in out, out + err)


def locks():
    d = folder()
    holder = subprocess.Popen([GRADUS, 'gate', '--off', 'sleep 1', '--on', 'sleep 1', '--n', '1', '--name', 'first', '-q'], cwd=d, env=ENV,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    log = os.path.join(d, 'out/gate/first/runs/off-1/1/log.txt')
    for _ in range(500):
        if os.path.exists(log):
            break
        time.sleep(0.01)
    code, out, err = gradus('gate', '--resume', 'first', cwd=d)
    check('one process works on a series', code == 3 and 'gate/series-running' in err, err)
    start = time.monotonic()
    code, out, err = gradus('gate', '--off', 'true', '--on', 'true', '--n', '1', '--name', 'second', cwd=d)
    check('a second gate waits and says for whom', code == 0 and 'waiting for the device: gradus gate first, pid %d' % holder.pid in err and
          holder.wait() == 0 and time.monotonic() - start > 0.5, err)


def detached():
    d = folder()
    configs(d)
    code, out, err = gate(d, '--name', 's', '--detach', env={'SAMPLE_SLEEP': '0.1'})
    check('--detach returns at once', code == 0 and 'goes on as process' in out and not os.path.exists(os.path.join(d, 'out/gate/s/done')), out + err)
    pid = int(re.search(r'process (\d+)', out).group(1))
    os.kill(pid, signal.SIGHUP)
    done = os.path.join(d, 'out/gate/s/done')
    for _ in range(600):
        if os.path.exists(done):
            break
        time.sleep(0.05)
    check('it survives the terminal and leaves its sentinel', os.path.exists(done) and 'complete' in open(done).read(), series(d, 's', 'gate.log'))
    check('its report is in the log', 'verdict: adopt' in series(d, 's', 'report.txt') and 'off-1' in series(d, 's', 'gate.log'))


def recorded(d):
    """slot: text of every record that counts."""
    out = {}
    runs = os.path.join(d, 'out/gate/s/runs')
    for slot in os.listdir(runs) if os.path.isdir(runs) else []:
        for attempt in os.listdir(os.path.join(runs, slot)):
            path = os.path.join(runs, slot, attempt, 'run.toml')
            if os.path.exists(path) and 'ok = true' in open(path).read():
                out[slot] = out.get(slot, '') + open(path).read()
    return out


def killed():
    """kill -9 at many random moments: finished runs are neither repeated nor lost."""
    rng = random.Random(6)
    d = folder()
    ledger = os.path.join(d, 'ledger')
    open(os.path.join(d, 'job'), 'w').write('echo start $GRADUS_GATE_SLOT >>ledger; sleep 0.02; echo end $GRADUS_GATE_SLOT >>ledger\n')
    kills, repeated, lost, env = 0, [], [], {}
    args = ['gate', '--off', 'sh job a', '--on', 'sh job b', '--name', 's', '--n', '12', '-q']
    read = lambda: open(ledger).read().split('\n')[:-1] if os.path.exists(ledger) else []
    while not os.path.exists(os.path.join(d, 'out/gate/s/done')) and kills < 60:
        before, seen = recorded(d), len(read())
        p = subprocess.Popen([GRADUS] + args, cwd=d, env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            p.wait(timeout=rng.uniform(0.005, 0.25))
        except subprocess.TimeoutExpired:
            p.kill()
            p.wait()
            kills += 1
        after = recorded(d)
        repeated += [l for l in read()[seen:] if l.startswith('start') and l.split()[1] in before]
        lost += [s for s in before if not after.get(s, '').startswith(before[s])]
    code, out, err = gradus(*args, cwd=d, env=env)
    numbers = [int(a) for s in os.listdir(os.path.join(d, 'out/gate/s/runs')) for a in os.listdir(os.path.join(d, 'out/gate/s/runs', s))]
    check('a series killed again and again completes', code == 0 and kills >= 5 and len(recorded(d)) == 24, '%d kills\n%s%s' % (kills, out, err))
    check('no finished run is repeated', not repeated, repeated)
    check('no record is lost or changed', not lost, lost)
    # A slot may also be repeated by the retry rule: these short jobs scatter, and a loaded machine is evidence of load.
    named = 'does not count: interrupted' in out or 'was retried by the registered rule' in out
    check('further attempts keep their numbers and are named', max(numbers) == 1 or named, out)


def interrupted():
    d = folder()
    p = subprocess.Popen([GRADUS, 'gate', '--off', 'sleep 30', '--on', 'true', '--n', '1', '--name', 's', '-q'], cwd=d, env=ENV, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    for _ in range(500):
        if os.path.exists(os.path.join(d, 'out/gate/s/runs/off-1/1/log.txt')):
            break
        time.sleep(0.02)
    p.send_signal(signal.SIGINT)
    out, err = p.communicate(timeout=20)
    check('Ctrl-C stops the run and keeps the series', p.returncode == 3 and 'gate/stopped' in err and 'state = "stopped"' in series(d, 's', 'done'), err)


def main():
    if not os.path.exists(GRADUS):
        print('1..0 # SKIP no %s: make build' % GRADUS)
        return 1
    parts = (adoption, verdicts, refusals, failures, commands, locks, detached, killed, interrupted)
    for part in [p for p in parts if not sys.argv[1:] or p.__name__ in sys.argv[1:]]:
        try:
            part()
        except Exception as e: # a part that breaks is one failure, the others still run
            check('%s does not break' % part.__name__, False, repr(e))
    shutil.rmtree(TMP, ignore_errors=True)
    print('1..%d' % count)
    return 0


if __name__ == '__main__':
    sys.exit(main())
