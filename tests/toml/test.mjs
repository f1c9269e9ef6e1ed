// node tests/toml/test.mjs GRADUS_TOML: our TOML reader against smol-toml, on documents written by hand, generated and
// damaged. Valid documents: both read the same values. Any document: what we accept, smol-toml accepts with the same
// values (it takes more than TOML 1.0 does, "[[a]" for one, so not the other way round). Speaks TAP.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Script, createContext } from 'node:vm';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
let smol;
try {
  smol = await import('smol-toml');
} catch {
  console.log('ok 1 - TOML against smol-toml # SKIP smol-toml is not installed\n1..1');
  process.exit(0);
}

// smol-toml never returns from some damaged documents: those are left out.
const box = createContext({ parse: smol.parse, text: '' });
const script = new Script('parse(text, { integersAsBigInt: true })');
function parseTheirs(text) {
  box.text = text;
  return script.runInContext(box, { timeout: 500 });
}

// The form that gradus-toml prints.
function typed(v) {
  if (typeof v === 'string') return { s: v };
  if (typeof v === 'bigint') return { i: v.toString() };
  if (typeof v === 'boolean') return { b: v };
  if (typeof v === 'number') {
    if (Number.isNaN(v)) return { f: 'nan' };
    const b = new DataView(new ArrayBuffer(8));
    b.setFloat64(0, v);
    return { f: '0x' + b.getBigUint64(0).toString(16).padStart(16, '0') };
  }
  if (v instanceof Date) return { d: '' };
  if (Array.isArray(v)) return v.map(typed);
  return { o: Object.entries(v).map(([k, x]) => [k, typed(x)]) };
}

// Where smol-toml takes more than TOML 1.0 allows: integers beyond 64 bits, lone surrogates, days that no month has.
const lone = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
function strict(v, text) {
  if (typeof v === 'bigint') return BigInt.asIntN(64, v) === v;
  if (typeof v === 'string') return !lone.test(v);
  if (v instanceof Date) return ![...text.matchAll(/\d{4}-(\d\d)-(\d\d)/g)].some(m => Number(m[2]) > [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m[1] - 1]);
  return v === null || typeof v !== 'object' || Object.entries(v).every(([k, x]) => !lone.test(k) && strict(x, text));
}

// Members in any order (JavaScript puts integer-like keys first), and newlines of multi-line strings as one.
function canonical(v) {
  if (v && typeof v === 'object' && 's' in v) return { s: v.s.replaceAll('\r\n', '\n') };
  if (Array.isArray(v)) return v.map(canonical);
  if (v && typeof v === 'object' && v.o) return { o: v.o.map(([k, x]) => [k, canonical(x)]).sort((a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)) };
  return v;
}

// A pseudo-random stream (mulberry32) so that every run sees the same documents.
let state = 20240607;
function random(n) {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) % n;
}
const pick = list => list[random(list.length)];

const scalars = ['0', '+0', '-0', '17', '-9223372036854775808', '9223372036854775807', '1_000', '0xDEAD_beef', '0o755', '0b1101', '0x0', '3.14',
  '-0.0', '+0.0', '5e+22', '1e06', '-2E-2', '6.626e-34', '9_224_617.445_991', 'inf', '+inf', '-inf', 'nan', '+nan', '4.9e-324',
  'true', 'false', '""', '"a"', "''", "'C:\\x'", '"\\b\\t\\n\\f\\r\\"\\\\"', '"\\u00e9\\U0001F600"', '"é"', '"""\nx\n"""', '"""a\\\n   b"""', '""""x"""""', "'''\nx'y''z\n'''",
  "''''x'''''", '1979-05-27T07:32:00Z', '1979-05-27T00:32:00-07:00', '1979-05-27 07:32:00.999', '1979-05-27', '07:32:00', '00:32:00.999999', '[]', '{}',
  '[1,2]', '[ 1, 2, ]', '[\n# c\n1 ,\n2\n]', '[[1],["a"]]', '{a=1}', '{ a.b = 1, "c d" = [1] }'];
const keys = ['a', 'b', 'c-d', 'e_f', '1234', '"q r"', "'l i t'", '"\\u00e9"', '""', 'a.b', 'a . "c" . d', '"a.b"', 'x.y.z', 'true', '-', '1e5', '3.14'];

function generate() {
  const lines = [];
  for (let i = random(12) + 1; i > 0; i--) {
    const kind = random(10);
    if (kind === 0) lines.push(`[${pick(keys)}]`);
    else if (kind === 1) lines.push(`[[${pick(keys)}]]`);
    else if (kind === 2) lines.push(`# ${pick(['x', 'é', 'key = 1', ''])}`);
    else lines.push(`${pick(keys)} = ${random(6) === 0 ? `[${pick(scalars)}, ${pick(scalars)}]` : pick(scalars)}${pick(['', '', ' # c', '\t'])}`);
  }
  return lines.join(pick(['\n', '\n', '\r\n'])) + pick(['\n', '']);
}

const alphabet = '"\'[]{}=.,#\\\n\r\t _-+0123456789abcdefxobTZ:einflu';
function damage(text) {
  const chars = [...text];
  for (let i = random(3); i >= 0; i--) {
    const at = random(chars.length + 1);
    const what = random(3);
    if (what === 0) chars.splice(at, 1);
    else if (what === 1) chars.splice(at, 0, alphabet[random(alphabet.length)]);
    else chars[at] = alphabet[random(alphabet.length)];
  }
  return chars.join('');
}

const written = readFileSync(join(root, 'tests/toml/valid.txt'), 'utf8').split(/^----\n/m);
const wrong = readFileSync(join(root, 'tests/toml/invalid.txt'), 'utf8').split(/^----\n/m);
const own = readdirSync(join(root, 'catalog')).filter(n => n.includes('@')).map(n => readFileSync(join(root, 'catalog', n, 'op.toml'), 'utf8'));
const generated = Array.from({ length: 6000 }, generate);
const groups = {
  'documents written by hand': written,
  'wrong documents written by hand': wrong,
  'the catalog': own,
  'generated documents': generated,
  'damaged documents': Array.from({ length: 12000 }, () => damage(random(3) === 0 && own.length ? pick(own) : pick([...written, ...generated.slice(0, 500)]))),
};

const folder = mkdtempSync(join(tmpdir(), 'gradus-toml-'));
let n = 0;
for (const [name, documents] of Object.entries(groups)) {
  const texts = documents.filter(t => !t.includes('\0'));
  writeFileSync(join(folder, 'documents'), texts.map(t => t + '\0').join(''));
  const lines = execFileSync(process.argv[2], [join(folder, 'documents')], { encoding: 'utf8', maxBuffer: 1 << 29 }).split('\n');
  const faults = [];
  let accepted = 0, unanswered = 0;
  texts.forEach((text, i) => {
    let theirs;
    try {
      const value = parseTheirs(text);
      theirs = strict(value, text) ? JSON.stringify(canonical(typed(value))) : 'reject, since strict() does';
    } catch (e) {
      if (e.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return void unanswered++;
      theirs = 'reject ' + e.message.split('\n')[0];
    }
    const ours = lines[i].startsWith('reject') ? lines[i] : JSON.stringify(canonical(JSON.parse(lines[i])));
    if (!ours.startsWith('reject')) accepted++;
    const refused = ours.startsWith('reject');
    const wanted = name.startsWith('wrong') ? refused : name.startsWith('damaged') ? refused || ours === theirs
      : refused ? theirs.startsWith('reject') && !name.startsWith('documents') : ours === theirs;
    if (!wanted) faults.push({ text, ours, theirs });
  });
  console.log(`${faults.length ? 'not ok' : 'ok'} ${++n} - ${name}: ${texts.length}, ${accepted} accepted${unanswered ? `, ${unanswered} without an answer of smol-toml` : ''}`);
  for (const f of faults.sort((a, b) => a.text.length - b.text.length).slice(0, Number(process.env.FAULTS ?? 8)))
    console.log(`# ${JSON.stringify(f.text.slice(0, 300))}\n#   ours   ${f.ours.slice(0, 300)}\n#   theirs ${f.theirs.slice(0, 300)}`);
}
rmSync(folder, { recursive: true });
console.log(`1..${n}`);
