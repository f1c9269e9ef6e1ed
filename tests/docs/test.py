#!/usr/bin/env python3
"""Runs what the documentation shows. Speaks TAP.

Looks at README.md, CONTRIBUTING.md, docs/**/*.md and src/**/README.md. Fenced blocks by their info string:

  ```console      each line "$ command" runs with a shell in a scratch folder that shows the checkout's files, with
                  gradus on PATH; lines up to the next "$" are the expected output, in order. "…" or "..." in a
                  line stands for any text, alone on a line for any lines; no lines expect nothing. A block
                  that ends with "exit code 2" in its info string (```console exit=2) expects that code of its
                  last command. "$ make TARGET" is not run: the target must exist.
                  Blocks with the same session=NAME in their info string share one folder, in the order of the page.
  ```KIND file=PATH session=NAME
                  whatever the kind: the block is also written to PATH in the session's folder.
  ```sh           the lines that start with "$ " run; without any, the block must parse (sh -n).
  ```json, ```toml    must parse.
  ```c            must compile (cc -fsyntax-only), with gradus.h included before it.
  ```wgsl         must pass `gradus check`, where the program knows that file type.

A line <!-- skip: reason --> just before a block leaves it out; the reason is printed.
--static runs no commands.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GRADUS = os.path.join(ROOT, 'build', 'cli', 'gradus')
PAGES = ['README.md', 'CONTRIBUTING.md', 'splat/README.md'] + sorted(glob.glob('docs/**/*.md', root_dir=ROOT, recursive=True)) + \
    sorted(glob.glob('src/**/README.md', root_dir=ROOT, recursive=True))
SKIP_PAGES = {'docs/ladder.md'} # made of the rungs' READMEs, which are looked at themselves

count = 0


def report(ok, name, detail='', skip=None):
    global count
    count += 1
    print('%sok %d - %s%s' % ('' if ok else 'not ', count, name, ' # SKIP ' + skip if skip else ''))
    if not ok:
        for line in detail.strip().split('\n')[-40:]:
            print('# ' + line)


def blocks(text):
    """Yields (line number, info string, body, reason to skip or None)."""
    lines = text.split('\n')
    i = 0
    while i < len(lines):
        m = re.match(r'^(\s*)(`{3,})(.*)$', lines[i])
        if not m:
            i += 1
            continue
        start, indent, fence = i, m.group(1), m.group(2)
        body = []
        i += 1
        while i < len(lines) and lines[i].strip() != fence:
            body.append(lines[i][len(indent):] if lines[i].startswith(indent) else lines[i])
            i += 1
        i += 1
        before = next((l for l in reversed(lines[:start]) if l.strip()), '')
        skip = re.match(r'^\s*<!-- skip: (.*?) -->\s*$', before)
        yield start + 1, m.group(3).strip(), '\n'.join(body) + '\n', skip.group(1) if skip else None


def matches(expected, got):
    """Expected lines in order; an ellipsis stands for anything."""
    pattern = ''
    for line in expected:
        if line.strip() in ('…', '...'):
            pattern += r'(?:.*\n)*?'
        else:
            parts = re.split(r'…|\.\.\.', line.rstrip())
            pattern += r'.*?'.join(re.escape(p) for p in parts) + r'[ \t]*\n'
    return re.fullmatch(pattern, got if got.endswith('\n') or not got else got + '\n')


def scratch():
    """A folder in which the checkout's top-level files can be read and results may be written."""
    d = tempfile.mkdtemp(prefix='gradus-docs-')
    for name in os.listdir(ROOT):
        if not name.startswith('.') and name not in ('out',):
            os.symlink(os.path.join(ROOT, name), os.path.join(d, name))
    return d


sessions = {} # name: folder


def folder_of(info):
    """The session's folder and False, or a new one and True: then it is to be removed."""
    m = re.search(r'session=(\S+)', info)
    if not m:
        return scratch(), True
    if m.group(1) not in sessions:
        sessions[m.group(1)] = scratch()
    return sessions[m.group(1)], False


def end_sessions():
    for folder in sessions.values():
        shutil.rmtree(folder)
    sessions.clear()


def write_file(info, body):
    m = re.search(r'file=(\S+)', info)
    if m and '--static' not in sys.argv:
        path = os.path.join(folder_of(info)[0], m.group(1))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as f:
            f.write(body)


def run_console(page, line, info, body):
    want = re.search(r'exit=(\d+)', info)
    steps = []
    for l in body.rstrip('\n').split('\n'):
        if l.startswith('$ '):
            steps.append([l[2:], []])
        elif steps and steps[-1][0].endswith('\\') and not steps[-1][1]:
            steps[-1][0] = steps[-1][0][:-1] + ' ' + l.strip().lstrip('> ')
        elif steps:
            steps[-1][1].append(l)
    folder, own = folder_of(info)
    env = dict(os.environ, PATH=os.path.dirname(GRADUS) + os.pathsep + os.environ['PATH'], NO_COLOR='1', GRADUS_ROOT=ROOT)
    try:
        for i, (command, expected) in enumerate(steps):
            name = '%s:%d: %s' % (page, line, command)
            make = re.match(r'^(?:sudo )?make(?: ([a-z-]+))?((?: [A-Z]+=\S+)*)$', command)
            if make:
                p = subprocess.run(['make', '-n'] + ([make.group(1)] if make.group(1) else []), cwd=ROOT, capture_output=True, text=True)
                report(p.returncode == 0, name + ' (target exists)', p.stderr)
                continue
            if re.match(r'^(git|sudo|apt-get|cd)\b', command):
                report(True, name, skip='changes the machine')
                continue
            if '--static' in sys.argv:
                continue
            if 'gradus' in command and not os.path.exists(GRADUS):
                report(True, name, skip='build/cli/gradus is not built')
                continue
            try:
                p = subprocess.run(['bash', '-c', command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors='replace', timeout=300)
                code, got = p.returncode, p.stdout
            except subprocess.TimeoutExpired:
                code, got = 124, 'timed out'
            need = int(want.group(1)) if want and i == len(steps) - 1 else 0
            while expected and not expected[-1].strip():
                expected.pop()
            if code != need:
                report(False, name, 'exit code %d, expected %d\n%s' % (code, need, got))
            elif expected and not matches(expected, got):
                report(False, name, 'expected\n%s\ngot\n%s' % ('\n'.join(expected), got))
            else:
                report(True, name)
    finally:
        if own:
            shutil.rmtree(folder)


def knows_wgsl():
    if not os.path.exists(GRADUS):
        return False
    with tempfile.NamedTemporaryFile('w', suffix='.wgsl') as f:
        f.write('fn f() {}\n')
        f.flush()
        p = subprocess.run([GRADUS, 'check', f.name], capture_output=True)
        return p.returncode == 0


def check_block(page, line, kind, info, body):
    name = '%s:%d: %s block' % (page, line, kind)
    try:
        if kind == 'json':
            json.loads(body)
        elif kind == 'toml':
            try:
                import tomllib
            except ImportError:
                return report(True, name, skip='Python before 3.11 reads no TOML')
            tomllib.loads(body)
        elif kind == 'c':
            p = subprocess.run(['cc', '-std=c17', '-fsyntax-only', '-x', 'c', '-I' + ROOT + '/include', '-I' + ROOT + '/src', '-'],
                               input='#include "gradus.h"\n#line 1 "block"\n' + body, capture_output=True, text=True)
            return report(p.returncode == 0, name, p.stderr)
        elif kind == 'wgsl':
            if '--static' in sys.argv or not knows_wgsl():
                return report(True, name, skip='gradus check takes no .wgsl here')
            with tempfile.NamedTemporaryFile('w', suffix='.wgsl') as f:
                f.write(body)
                f.flush()
                p = subprocess.run([GRADUS, 'check', f.name], capture_output=True, text=True)
            return report(p.returncode == 0, name, p.stdout + p.stderr)
        report(True, name)
    except ValueError as e:
        report(False, name, str(e))


def check_links(page, text):
    bad = []
    for m in re.finditer(r'\]\(([^)#\s]+)(?:#[^)]*)?\)', re.sub(r'```.*?```|`[^`\n]*`', '', text, flags=re.S)):
        if not re.match(r'^[a-z]+:', m.group(1)) and not os.path.exists(os.path.join(ROOT, os.path.dirname(page), m.group(1))):
            bad.append(m.group(1))
    report(not bad, page + ': links lead to files', '\n'.join(bad))


def check_named_tests(page, text):
    """`tests/...`: `name` says that the file has something of that name."""
    bad = []
    for path, name in re.findall(r'`(tests/[^`\s]+)`: `([^`]+)`', text):
        full = os.path.join(ROOT, path)
        if not os.path.exists(full) or name not in open(full, encoding='utf-8').read():
            bad.append('%s has no %s' % (path, name))
    report(not bad, page + ': the tests it names exist', '\n'.join(bad))


def self_test():
    """The comparison can fail."""
    good = matches(['a …', '...', 'z'], 'a b\nc\nd\nz\n') and matches(['…'], '') and matches(['a'], 'a\n')
    bad = matches(['a'], 'b\n') or matches(['a', 'c'], 'a\nb\nc\n') or matches(['a …'], 'b\n')
    report(bool(good and not bad), 'expected output is compared')


def main():
    self_test()
    p = subprocess.run([os.path.join(ROOT, 'tools', 'gen-docs'), '--check'], capture_output=True, text=True)
    report(p.returncode == 0, 'generated pages are current', p.stdout + p.stderr)
    for page in PAGES:
        full = os.path.join(ROOT, page)
        if not os.path.exists(full):
            continue
        text = open(full, encoding='utf-8').read()
        check_links(page, text)
        if page == 'docs/trust.md':
            check_named_tests(page, text)
        if page in SKIP_PAGES:
            continue
        for line, info, body, skip in blocks(text):
            kind = info.split()[0] if info else ''
            if not skip:
                write_file(info, body)
            if skip:
                report(True, '%s:%d: %s block' % (page, line, kind or 'plain'), skip=skip)
            elif kind == 'console' or kind in ('sh', 'bash') and re.search(r'^\$ ', body, re.M):
                run_console(page, line, info, body)
            elif kind in ('sh', 'bash'):
                p = subprocess.run(['bash', '-n'], input=body, capture_output=True, text=True)
                report(p.returncode == 0, '%s:%d: sh block' % (page, line), p.stderr)
            elif kind in ('json', 'toml', 'c', 'wgsl'):
                check_block(page, line, kind, info, body)
        end_sessions()
    print('1..%d' % count)


main()
