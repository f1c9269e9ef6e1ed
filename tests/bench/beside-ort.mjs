// The oracle and the software adapter beside ONNX Runtime's wasm backend on one thread: matmul 512 and a 3x3 conv2d, medians in one run.
//
//   node tests/bench/beside-ort.mjs [gradus]
//
// onnxruntime-web is looked for in node_modules and in the folder GRADUS_ORT (npm install --no-save onnxruntime-web).
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { model, npy, readNpy } from '../import/model.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url)))), gradus = process.argv[2] ?? join(root, 'build/cli/gradus');
const tmp = mkdtempSync(join(tmpdir(), 'gradus-bench-')), ROUNDS = 9, TARGET = 0.5;
let ort;
for (const dir of [process.env.GRADUS_ORT, root].filter(Boolean)) try { ort = createRequire(join(dir, 'x.js'))('onnxruntime-web'); break; } catch { /* the next */ }
if (!ort) { console.log('skipped: no npm package onnxruntime-web (npm install --no-save onnxruntime-web)'); process.exit(0); }
ort.env.wasm.numThreads = 1;
ort.env.logLevel = 'error';

const random = (...shape) => ({ dtype: 'f32', shape, data: Array.from({ length: shape.reduce((a, b) => a * b, 1) }, () => Math.fround(Math.random() - 0.5)) });
const median = v => v.sort((a, b) => a - b)[v.length >> 1];
const works = [
  { name: 'matmul 512', op: 'MatMul', attrs: {}, own: 'matmul', params: [], operands: ['a', 'b'], inputs: [random(512, 512), random(512, 512)] },
  { name: 'conv2d 3x3, 32 to 32 channels, 64 x 64', op: 'Conv', attrs: { pads: [1, 1, 1, 1] }, own: 'conv2d', params: ['padding=[1, 1, 1, 1]'], operands: ['x', 'filter'], inputs: [random(1, 32, 64, 64), random(32, 32, 3, 3)] },
];

async function by_runtime(w) {
  const names = ['a', 'b'];
  const bytes = model({ nodes: [{ op: w.op, inputs: names, outputs: ['y'], attrs: w.attrs }], inputs: Object.fromEntries(names.map((k, i) => [k, { dtype: 'f32', shape: w.inputs[i].shape }])), outputs: { y: { dtype: 'f32' } } });
  const s = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'] });
  const feeds = Object.fromEntries(names.map((k, i) => [k, new ort.Tensor('float32', Float32Array.from(w.inputs[i].data), w.inputs[i].shape)]));
  const times = [];
  let y;
  for (let i = 0; i < ROUNDS + 2; i++) {
    const start = performance.now();
    y = (await s.run(feeds)).y.data;
    if (i > 1) times.push((performance.now() - start) / 1e3);
  }
  return { seconds: median(times), y };
}

function by_gradus(w, ...more) {
  const ins = w.inputs.flatMap((x, i) => { const f = join(tmp, `${i}.npy`); writeFileSync(f, npy(x)); return ['--in', `${w.operands[i]}=${f}`]; });
  const p = spawnSync(gradus, ['op', 'run', w.own, ...ins, ...w.params.flatMap(s => ['--set', s]), '--out', `y=${join(tmp, 'y.npy')}`, '--json', '--repeat', String(ROUNDS), '--allow-heavy-cpu', ...more], { encoding: 'utf8', env: { ...process.env, GRADUS_ROOT: root } });
  if (p.status) return { skipped: (p.stdout + p.stderr).trim().slice(0, 160) };
  const o = JSON.parse(p.stdout);
  return { seconds: o.seconds, adapter: o.adapter, y: readNpy(readFileSync(join(tmp, 'y.npy'))).data };
}

for (const w of works) {
  const want = await by_runtime(w), scale = want.y.reduce((m, v) => Math.max(m, Math.abs(v)), 0);
  let best = 0;
  for (const [name, ...args] of [['oracle, one thread', '--device', 'cpu', '--threads', '1'], ['oracle, all threads', '--device', 'cpu'], ['adapter', '--device', 'gpu']]) {
    const got = by_gradus(w, ...args);
    if (got.skipped) { console.log(`  ${w.name}, ${name}: skipped (${got.skipped})`); continue; }
    const off = got.y.reduce((m, v, i) => Math.max(m, Math.abs(v - want.y[i])), 0) / scale;
    best = Math.max(best, want.seconds / got.seconds);
    console.log(`  ${w.name}, onnxruntime-web / ${name}${name === 'adapter' ? ` (${got.adapter})` : ''}: ${(want.seconds / got.seconds).toFixed(2)}   ${(got.seconds * 1e3).toFixed(1)} ms beside ${(want.seconds * 1e3).toFixed(1)} ms, results within ${off.toExponential(0)}`);
  }
  console.log(`  ${w.name}: the better one runs at ${best.toFixed(2)} of onnxruntime-web's speed (target ${TARGET})${best < TARGET ? ': MISSED' : ''}`);
}
rmSync(tmp, { recursive: true });
