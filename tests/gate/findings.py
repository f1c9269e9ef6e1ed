#!/usr/bin/env python3
"""Findings: the index checked, rendered, and looked at by a browser where there is one. Speaks TAP.

  findings.py [PART ...] [--keep DIR]     --keep leaves the sample findings and their pages in DIR"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test as gate_test # noqa: E402
from test import ENV, GRADUS, SAMPLE, TMP, check, configs, folder, gate, gradus # noqa: E402

KEEP = sys.argv[sys.argv.index('--keep') + 1] if '--keep' in sys.argv else None
CHECKER = '%s -S %s check' % (sys.executable, SAMPLE)


def finding(name, runs=((67.0, 64.9), (67.2, 65.0), (66.9, 64.8), (67.1, 65.2), (67.0, 65.0)), sections=(('Found', 'Nothing to add.'),), **more):
    """The text of a finding; more holds top-level values as TOML text, tables as 'table_NAME'."""
    head = dict(id=json.dumps(name), title='"A title"', date='"2024-05-01"', task='"lego, 12,500 steps"', milestone='"M3"', status='"provisional"',
                polarity='"positive"', axes='["speed"]')
    tables = ''.join('[%s]\n%s\n' % (k[6:], v) for k, v in more.items() if k.startswith('table_'))
    head.update({k: v for k, v in more.items() if not k.startswith('table_') and k != 'rows_without'})
    text = ''.join('%s = %s\n' % kv for kv in head.items()) + tables
    for i, pair in enumerate(runs, 1):
        for arm, v in zip(('off', 'on'), pair):
            text += '[[runs]]\narm = "%s"\npair = %d\nelapsed_s = %r\n' % (arm, i, v)
            if 'quality' in more and 'rows_without' not in more:
                text += 'quality = %r\n' % (33.9 + 0.01 * i - (0.005 if arm == 'on' else 0))
            text += 'load1 = 0.4%d\n' % i
    for title, body in sections:
        text += '[[sections]]\ntitle = %s\ntext = %s\n' % (json.dumps(title), json.dumps(body))
    return text


def put(d, name, **more):
    os.makedirs(os.path.join(d, 'findings'), exist_ok=True)
    with open(os.path.join(d, 'findings', name + '.toml'), 'w') as f:
        f.write(finding(name, **more))


def programs(d, sources=(), configurations=('*.toml',)):
    os.makedirs(os.path.join(d, 'findings'), exist_ok=True)
    with open(os.path.join(d, 'findings', 'programs.toml'), 'w') as f:
        f.write('[sample]\ndefaults = %s\nsources = %s\nconfigs = %s\n' % (json.dumps(CHECKER), json.dumps(list(sources)), json.dumps(list(configurations))))


def expect(title, word, ok=False, **more):
    d = folder()
    programs(d)
    put(d, 'one', **more)
    code, out, err = gradus('findings', 'check', cwd=d)
    check(title, (code == 0) == ok and word in out + err, out + err)


def schema():
    expect('a good finding holds', '1 findings, all of them hold', ok=True)
    expect('a field that is none is named', 'base/key-unknown', colour='"red"')
    expect('a status that is none', 'findings/field-invalid', status='"good"')
    expect('a polarity that is none', 'findings/field-invalid', polarity='"up"')
    expect('a date that is none', 'findings/field-invalid', date='"yesterday"')
    expect('a TOML date is one', 'all of them hold', ok=True, date='2024-05-01')
    expect('no axis', 'findings/field-invalid', axes='[]')
    expect('an id that is not the file\'s', 'findings/field-invalid', **{'id': '"two"'})
    expect('a pair without its partner', 'findings/runs-incomplete', runs=((67.0,),))
    expect('an elapsed time of nothing', 'findings/field-invalid', runs=((0.0, 1.0),))
    expect('a guard whose quality runs lack', 'findings/field-invalid', quality='"psnr"', rows_without=True)
    expect('a default for a key that is not touched', 'findings/field-invalid', table_default='"speed.mode" = "quick"')
    expect('a link to nothing', 'findings/link-broken', links='["nowhere"]')
    expect('a link to itself', 'findings/link-broken', links='["one"]')
    expect('a follow-up of nothing', 'findings/link-broken', follow_up_of='"nowhere"')
    expect('a program that is none', 'findings/field-invalid', program='"other"')
    d = folder()
    put(d, 'one', follow_up_of='"two"')
    put(d, 'two', follow_up_of='"one"')
    code, out, err = gradus('findings', 'check', cwd=d)
    check('a circle of follow-ups', code == 2 and 'circle' in err, err)


def figures():
    def text(title, body, word, ok=False):
        expect(title, word, ok, sections=(('Found', body),))
    text('figures that follow from the runs', 'The mean falls by 3.1 %, from 67.04 s to 65.0 s; pair 2 gains 3.27 %, or 3.3 per cent. It saves 2060 ms.', 'all of them hold', ok=True)
    text('a wrong one is found, with the nearest', 'It falls by 3.4 %.', 'findings/figure-differs')
    text('more digits than are true', 'It falls by 3.04 %.', 'findings/figure-differs')
    text('a wrong time', 'It takes 64.0 s.', 'findings/figure-differs')
    text('a wrong quality', 'It loses 0.3 dB.', 'findings/figure-differs')
    text('code is no figure', 'With `12 %` less ``3 s`` of it.', 'all of them hold', ok=True)
    text('numbers without a unit are no figures', 'With 400 000 splats, 12,500 steps, and 3 sheep, v1.2s.', 'all of them hold', ok=True)
    text('placeholders', 'By {delta} ({low} to {high}), {off} to {on}, pair {delta 2}, {pairs} pairs.', 'all of them hold', ok=True)
    text('a placeholder that is none', 'By {detla}.', '{detla} is no figure')
    text('a pair that is none', 'By {delta 9}.', '{delta 9} is no figure')
    text('a citation of its own', 'See §1.', 'all of them hold', ok=True)
    text('a citation of nothing', 'See §2.', 'findings/link-broken')
    text('a citation of a finding that is none', 'See no-such §1.', 'findings/link-broken')


def verdicts():
    on, off = '"speed.mode" = "quick"', '"speed.mode" = "plain"'
    touch = dict(config_paths='["speed.mode"]', table_off=off, table_on=on)
    slow = ((67.0, 67.0), (67.1, 67.2), (66.9, 66.8))
    expect('an adoption that the runs support', 'all of them hold', ok=True, table_default=on, **touch)
    expect('one that they do not', 'findings/verdict-differs', table_default=on, runs=slow, **touch)
    expect('a rejection against the runs', 'findings/verdict-differs', status='"rejected"', **touch)
    expect('a rejection by the runs', 'all of them hold', ok=True, status='"rejected"', runs=slow, table_default=off, **touch)
    # A default and its finding.
    expect('a default that disagrees with its finding', 'findings/default-differs', program='"sample"', table_default=on, **touch)
    expect('a default that agrees', 'all of them hold', ok=True, program='"sample"', runs=slow, status='"rejected"', table_default=off, **touch)
    d = folder()
    programs(d)
    put(d, 'old', program='"sample"', table_default=on, **touch)
    put(d, 'new', date='"2024-06-01"', program='"sample"', table_default=off, status='"rejected"', runs=slow, **touch)
    code, out, err = gradus('findings', 'check', cwd=d)
    check('the newest finding decides', code == 0, err)
    # Stale baselines.
    base = dict(program='"sample"', table_off='"speed.gain" = 2.0\n"speed.noise" = 0.5', table_on='"speed.gain" = 2.0')
    expect('a default that changed since makes the baseline stale', 'findings/baseline-stale', ok=True, table_defaults='"speed.gain" = 2.0', **base)
    expect('and says which', 'speed.gain was 2 and is 3', ok=True, table_defaults='"speed.gain" = 2.0', **base)
    expect('not one that off did not use', 'all of them hold', ok=True, table_defaults='"speed.noise" = 0.4', **base)
    # Repeats.
    d = folder()
    put(d, 'first', status='"rejected"', runs=slow, config_paths='["speed.mode"]')
    put(d, 'second', date='"2024-06-01"', config_paths='["speed.mode"]')
    code, out, err = gradus('findings', 'check', cwd=d)
    check('what was rejected is not repeated without a reason', code == 2 and 'findings/repeats-rejected' in err and 'second.toml' in err, err)
    put(d, 'second', date='"2024-06-01"', config_paths='["speed.mode"]', differs='"On another adapter."')
    check('with one it is', gradus('findings', 'check', cwd=d)[0] == 0)
    put(d, 'second', date='"2024-06-01"', config_paths='["speed.mode"]', follow_up_of='"first"')
    check('or as a follow-up', gradus('findings', 'check', cwd=d)[0] == 0)


def from_series():
    d = folder()
    configs(d)
    with open(os.path.join(d, 'leaves.toml'), 'w') as f:
        f.write('[speed]\nnoise = 0.3\n')
    programs(d, sources=[SAMPLE])
    gate(d, '--name', 's', '-q', '--predict', '-4..-2')
    code, out, err = gradus('findings', 'new', '--id', 'quick', '--series', 's', '--program', 'sample', '--title', 'Quick saves {delta}', cwd=d)
    text = open(os.path.join(d, 'findings/quick.toml')).read() if code == 0 else ''
    check('a finding from a series', code == 0 and text.count('[[runs]]') == 6 and '[default]\n"speed.mode" = "quick"' in text and 'low = -0.04' in text, out + err)
    check('twice is once too often', gradus('findings', 'new', '--id', 'quick', '--series', 's', cwd=d)[0] == 2)
    code, out, err = gradus('findings', 'list', '--touches', 'speed.mode', cwd=d)
    check('it is listed with its figures', code == 0 and re.search(r'Quick saves -3\.\d\d %', out), out + err)
    code, out, err = gradus('findings', 'list', '--status', 'rejected', '--json', cwd=d)
    check('and filtered', json.loads(out) == [], out + err)
    code, out, err = gradus('gate', '--adopt', 'quick', cwd=d)
    check('--adopt says where the default stands', code == 0 and 'speed.mode: "plain" -> "quick"' in out and re.search(r'change .*sample.py:\d+: DEFAULTS', out), out + err)
    check('and which configurations change silently', 'CHANGES SILENTLY leaves.toml' in out and 'keeps on.toml: it sets "quick"' in out, out)
    check('and of nothing complains', gradus('gate', '--adopt', 'nothing', cwd=d)[0] == 2)
    put(d, 'bad', status='"rejected"', runs=((67.0, 67.0), (67.1, 67.2), (66.9, 66.8)), config_paths='["speed.mode"]')
    code, out, err = gradus('findings', 'new', '--touches', 'speed.mode', cwd=d)
    check('new shows what was rejected', code == 0 and 'rejected before:' in out and 'bad' in out, out + err)
    code, out, err = gradus('findings', 'new', '--touches', 'speed.mode', '--id', 'again', cwd=d)
    check('and asks why this one differs', code == 2 and 'findings/repeats-rejected' in err and not os.path.exists(os.path.join(d, 'findings/again.toml')), err)
    code, out, err = gradus('findings', 'new', '--touches', 'speed.mode', '--id', 'again', '--differs', 'Another adapter.', cwd=d)
    check('with an answer it is written', code == 0 and 'differs = "Another adapter."' in open(os.path.join(d, 'findings/again.toml')).read(), err)


def sample(d):
    """Findings like those of a trainer."""
    touch = dict(table_off='"backend.pipelining" = "off"\n"train.max_steps" = 12500', table_on='"backend.pipelining" = "depth2"\n"train.max_steps" = 12500')
    put(d, 'two-in-flight', title='"Two steps in flight save {gain} on lego"', status='"stable"', axes='["speed", "latency"]', tags='["pipelining", "host"]', quality='"psnr"',
        config_paths='["backend.pipelining"]', date='"2024-06-11"', links='["shadow-of-the-forward"]', table_default='"backend.pipelining" = "depth2"',
        table_prediction='low = -0.04\nhigh = -0.02\nremoved_work = 0.042', table_provenance='adapter = "a software adapter"\nrevision = "0123456789abcdef"',
        sections=(('What was done', 'The next forward is **encoded and submitted** while this step\'s host work runs.\n\n| step | before | after |\n|---|---|---|\n| forward | waits | `submitted` |\n\n'
                   '1. encode\n2. submit\n3. refine\n\nFollows from shadow-of-the-forward §1; <script>alert(1)</script> is text, [this](javascript:alert(1)) goes nowhere.'),
                  ('What was seen', 'Over {pairs} pairs the mean falls from {off} to {on}, by {delta}; the noise of off is {sigma_off}. Pair 2 alone gives {delta 2}.\n\n> The bubble is gone; what is left is sort.\n'),
                  ('What it means', 'The conversion rate is {conversion}: see §2.\n\n```\ngradus gate off.toml on.toml --name s4b\n```\n')), **touch)
    put(d, 'shadow-of-the-forward', title='"Host work in the shadow of the forward gains nothing by itself"', status='"rejected"', polarity='"negative"', tags='["host"]', date='"2024-05-20"',
        runs=((67.0, 66.9), (67.1, 67.2), (66.9, 66.8)), sections=(('Why', 'Without two steps in flight there is no shadow to work in.'),))
    put(d, 'tiles-in-order', title='"Sorting once by depth, then by tile"', axes='["speed", "memory"]', tags='["sort"]', follow_up_of='"two-in-flight"', date='"2024-07-02"',
        runs=((64.0, 62.9), (66.1, 62.2), (63.9, 63.8)), sections=(('Fragile', 'It hangs on one pair.'),))
    put(d, 'subgroup-sums', title='"Subgroup sums in the backward: faster where the adapter has them"', axes='["speed"]', tags='["kernel"]', status='"stable"', date='"2024-07-20"')
    with open(os.path.join(d, 'findings', 'tiles-in-order.toml'), 'a') as f:
        f.write('[[points]]\ntext = "Five more pairs on a calm machine."\nstate = "open"\ndate = "2024-07-02"\n[[points]]\ntext = "The same on garden."\nstate = "closed"\ndate = "2024-07-09"\n')


class Page(html.parser.HTMLParser):
    VOID = {'meta', 'link', 'input', 'br', 'hr', 'img'}

    def __init__(self, text):
        super().__init__()
        self.stack, self.ids, self.links, self.bad = [], set(), [], []
        self.feed(text)
        self.bad += self.stack

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if 'id' in a and a['id'] in self.ids:
            self.bad.append('id twice: ' + a['id'])
        self.ids.add(a.get('id'))
        if tag == 'a':
            self.links.append(a['href'])
        if tag not in self.VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.stack or self.stack.pop() != tag:
            self.bad.append('</%s>' % tag)


def pages():
    d = KEEP or folder()
    sample(d)
    code, out, err = gradus('findings', 'check', cwd=d)
    check('the sample findings hold', code == 0, err)
    code, out, err = gradus('findings', 'render', cwd=d)
    site = os.path.join(d, 'out', 'findings')
    check('they are rendered', code == 0 and sorted(os.listdir(site)) == ['index.html', 'script.js', 'shadow-of-the-forward.html', 'style.css', 'subgroup-sums.html',
                                                                          'tiles-in-order.html', 'two-in-flight.html'], out + err)
    texts = {n: open(os.path.join(site, n)).read() for n in os.listdir(site) if n.endswith('.html')}
    parsed = {n: Page(t) for n, t in texts.items()}
    check('every page is well formed', not any(p.bad for p in parsed.values()), {n: p.bad for n, p in parsed.items()})
    dead = [(n, l) for n, p in parsed.items() for l in p.links if not re.match(r'#$|https?:', l) and
            (l.split('#')[0] or n) in texts and '#' in l and l.split('#')[1] not in parsed[l.split('#')[0] or n].ids or not (l.startswith('#') or l.split('#')[0] in texts)]
    check('every link leads somewhere', not dead, dead)
    one = texts['two-in-flight.html']
    check('raw HTML is text, scripts are no links', '&lt;script&gt;' in one and '<script>' not in one and 'javascript' not in re.sub(r'<p>.*?</p>', '', one, flags=re.S), one)
    check('figures are filled in', 'save 3.0' in one and '{' not in re.sub(r'<style.*?</style>', '', one, flags=re.S), one[:600])
    check('the run table, the plots and the interval', one.count('<tr') > 12 and one.count('<svg') == 2 and 'between ' in one)
    check('links go both ways', 'followed by' in one and 'tiles-in-order.html' in one and 'seen from' in texts['shadow-of-the-forward.html'] and 'follows' in texts['tiles-in-order.html'])
    check('citations are links', 'href="shadow-of-the-forward.html#s1"' in one and 'href="two-in-flight.html#s2"' in one or '<table>' not in one, one)
    check('open points have state and date', 'closed</span>' in texts['tiles-in-order.html'] and '2024-07-09' in texts['tiles-in-order.html'])
    index = texts['index.html']
    check('the index filters by style alone', 'main:has(#status-rejected:checked) .findings > li:not(.status-rejected)' in index and index.index('subgroup-sums') < index.index('shadow-of'))
    browser(site)


def browser(site):
    chromium = next((c for c in ('chromium', 'chromium-browser', 'google-chrome') if shutil.which(c)), None)
    names = ('without JavaScript the filter hides what it should', 'a screenshot in light and dark')
    if not chromium:
        for n in names:
            gate_test.count += 1
            print('ok %d - %s # SKIP no Chromium' % (gate_test.count, n))
        return
    base = [chromium, '--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--user-data-dir=' + os.path.join(TMP, 'chromium')]
    # The page with the filter set and scripts off: what the style hides has no place in a layout, which a probe page asks of an iframe.
    index = open(os.path.join(site, 'index.html')).read()
    probe = re.sub(r'<script src.*?</script>', '', index).replace('id="status-all" checked', 'id="status-all"').replace('id="status-rejected"', 'id="status-rejected" checked')
    probe = probe.replace('</body>', '<script>document.title = [...document.querySelectorAll(".findings > li")].map(l => l.getClientRects().length).join("")</script></body>')
    with open(os.path.join(site, 'probe.html'), 'w') as f:
        f.write(probe)
    p = subprocess.run(base + ['--dump-dom', 'file://' + os.path.join(site, 'probe.html')], capture_output=True, text=True, timeout=120)
    os.remove(os.path.join(site, 'probe.html'))
    check(names[0], '<title>0001</title>' in p.stdout, p.stdout[:500] + p.stderr[-500:])
    shots = []
    for name, size, page, more in (('light', '1100,1500', 'two-in-flight.html', []), ('dark', '1100,1500', 'two-in-flight.html', ['--blink-settings=preferredColorScheme=0', '--force-dark-mode']),
                                   ('index', '1100,800', 'index.html', []), ('narrow', '500,1400', 'two-in-flight.html', [])):
        path = os.path.join(site if KEEP else TMP, name + '.png')
        subprocess.run(base + more + ['--window-size=' + size, '--screenshot=' + path, 'file://' + os.path.join(site, page)], capture_output=True, timeout=120)
        shots.append(open(path, 'rb').read() if os.path.exists(path) else b'')
    check(names[1], all(s[:4] == b'\x89PNG' and len(s) > 20000 for s in shots) and shots[0] != shots[1], [len(s) for s in shots])


def ours():
    """The findings of this repository, where there are any, hold: a default that disagrees with its finding fails here."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    if not os.path.isdir(os.path.join(root, 'findings')):
        gate_test.count += 1
        print('ok %d - the findings of this repository hold # SKIP there are none yet' % gate_test.count)
        return
    code, out, err = gradus('findings', 'check', cwd=root)
    check('the findings of this repository hold', code == 0, out + err)


def main():
    if not os.path.exists(GRADUS):
        print('1..0 # SKIP no %s: make build' % GRADUS)
        return 1
    named = [a for a in sys.argv[1:] if a != '--keep' and a != KEEP]
    parts = (schema, figures, verdicts, from_series, pages, ours)
    for part in [p for p in parts if not named or p.__name__ in named]:
        try:
            part()
        except Exception as e: # a part that breaks is one failure, the others still run
            check('%s does not break' % part.__name__, False, repr(e))
    shutil.rmtree(TMP, ignore_errors=True)
    print('1..%d' % gate_test.count)
    return 0


if __name__ == '__main__':
    sys.exit(main())
