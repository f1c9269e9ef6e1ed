// node tests/wasm/test.mjs WASM NATIVE ROOT: runs gradus-probe both ways and compares line by line. Speaks TAP.
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { WASI } from 'node:wasi';

const [wasmPath, nativePath, root] = process.argv.slice(2);

async function runWasm(args) {
  const dir = mkdtempSync(join(tmpdir(), 'gradus-wasm-'));
  const out = openSync(join(dir, 'stdout'), 'w+');
  try {
    const wasi = new WASI({
      version: 'preview1', args: ['gradus-probe', ...args], env: {}, stdout: out, returnOnExit: true,
      preopens: { '.': root },
    });
    const module = await WebAssembly.compile(readFileSync(wasmPath));
    const code = wasi.start(await WebAssembly.instantiate(module, { wasi_snapshot_preview1: wasi.wasiImport }));
    return { code, text: readFileSync(join(dir, 'stdout'), 'utf8') };
  } finally {
    closeSync(out);
    rmSync(dir, { recursive: true });
  }
}

// Lines are "name value"; names are unique.
const table = text => new Map(text.split('\n').filter(Boolean).map(l => [l.slice(0, l.indexOf(' ')), l.slice(l.indexOf(' ') + 1)]));

let n = 0;
const report = (ok, name, detail) => {
  console.log(`${ok ? 'ok' : 'not ok'} ${++n} - ${name}`);
  if (!ok) for (const line of detail.split('\n')) console.log(`# ${line}`);
};

const native = table(execFileSync(resolve(nativePath), ['.'], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 }));
const wasm = await runWasm(['.']);
report(wasm.code === 0, 'the wasm program ends with exit code 0', `exit code ${wasm.code}`);
const got = table(wasm.text);
for (const [name, value] of native) report(got.get(name) === value, name, `native ${value}\nwasm   ${got.get(name)}`);
for (const name of got.keys()) if (!native.has(name)) report(false, name, 'only the wasm program prints it');
console.log(`1..${n}`);
process.exitCode = 0;
