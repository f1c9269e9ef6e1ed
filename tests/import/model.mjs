// ONNX models from JavaScript objects: a writer of protobuf's wire format for the messages that models are made of, and NPY files.
// Field numbers: onnx/onnx.proto of the ONNX standard.

const TYPES = { f32: 1, u8: 2, i8: 3, u16: 4, i16: 5, i32: 6, i64: 7, bool: 9, f16: 10, f64: 11, u32: 12, u64: 13, bf16: 16 };
const ARRAYS = { f32: Float32Array, u8: Uint8Array, i8: Int8Array, u16: Uint16Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array, bool: Uint8Array,
                 f16: Uint16Array, f64: Float64Array, u32: Uint32Array, u64: BigUint64Array };
const NPY = { f32: '<f4', u8: '|u1', i8: '|i1', i32: '<i4', i64: '<i8', bool: '|b1', f64: '<f8', u32: '<u4', u64: '<u8' };

const varint = v => {
  const out = [];
  let x = BigInt.asUintN(64, BigInt(v));
  do { out.push(Number(x & 127n) | (x > 127n ? 128 : 0)); x >>= 7n; } while (x);
  return Buffer.from(out);
};
const int = (field, v) => Buffer.concat([varint(field << 3), varint(v)]);
const bytes = (field, b) => Buffer.concat([varint((field << 3) | 2), varint(b.length), b]);
const text = (field, s) => bytes(field, Buffer.from(s));
const float = (field, v) => { const b = Buffer.alloc(4); b.writeFloatLE(v); return Buffer.concat([varint((field << 3) | 5), b]); };

// t: { dtype, shape, data }
export const typed = t => (ARRAYS[t.dtype] === BigInt64Array || ARRAYS[t.dtype] === BigUint64Array ? ARRAYS[t.dtype].from(t.data, BigInt) : ARRAYS[t.dtype].from(t.data));
const raw = t => { const a = typed(t); return Buffer.from(a.buffer, a.byteOffset, a.byteLength); };
const chunk = (name, t) => Buffer.concat([...t.shape.map(d => int(1, d)), int(2, TYPES[t.dtype]), name ? text(8, name) : Buffer.alloc(0), bytes(9, raw(t))]);

function attribute(name, v) {
  const head = text(1, name);
  if (typeof v === 'string') return Buffer.concat([head, text(4, v), int(20, 3)]);
  if (typeof v === 'bigint') return Buffer.concat([head, int(3, v), int(20, 2)]);
  if (typeof v === 'number') return Number.isInteger(v) ? Buffer.concat([head, int(3, v), int(20, 2)]) : Buffer.concat([head, float(2, v), int(20, 1)]);
  if (v.float !== undefined) return Buffer.concat([head, float(2, v.float), int(20, 1)]);
  if (v.dtype) return Buffer.concat([head, bytes(5, chunk('', v)), int(20, 4)]);
  if (v.graph) return Buffer.concat([head, bytes(6, graph(v.graph)), int(20, 5)]);
  if (v.floats) return Buffer.concat([head, ...v.floats.map(x => float(7, x)), int(20, 6)]);
  if (typeof v[0] === 'string') return Buffer.concat([head, ...v.map(x => text(9, x)), int(20, 8)]);
  return Buffer.concat([head, ...v.map(x => int(8, x)), int(20, 7)]);
}

const dimension = d => bytes(1, typeof d === 'string' ? text(2, d) : d === null ? Buffer.alloc(0) : int(1, d));
const value = (name, t) => Buffer.concat([text(1, name), bytes(2, bytes(1, Buffer.concat([int(1, typeof t.dtype === 'number' ? t.dtype : TYPES[t.dtype]), t.shape ? bytes(2, Buffer.concat(t.shape.map(dimension))) : Buffer.alloc(0)])))]);
const node = n => Buffer.concat([...n.inputs.map(s => text(1, s)), ...n.outputs.map(s => text(2, s)), n.name ? text(3, n.name) : Buffer.alloc(0), text(4, n.op),
  ...Object.entries(n.attrs ?? {}).map(([k, v]) => bytes(5, attribute(k, v))), n.domain ? text(7, n.domain) : Buffer.alloc(0)]);

// g: { nodes, weights: {name: tensor}, inputs: {name: {dtype, shape}}, outputs: {name: {dtype, shape?}}, extra: raw bytes of more fields }
function graph(g) {
  return Buffer.concat([...g.nodes.map(n => bytes(1, node(n))), text(2, g.name ?? 'g'), ...Object.entries(g.weights ?? {}).map(([k, t]) => bytes(5, t.raw ?? chunk(k, t))),
    ...Object.entries(g.inputs ?? {}).map(([k, t]) => bytes(11, value(k, t))), ...Object.entries(g.outputs ?? {}).map(([k, t]) => bytes(12, value(k, t)))]);
}
export function model(g, opset = 17, domains = {}) {
  return Buffer.concat([int(1, 8), text(2, 'test'), bytes(7, graph(g)), bytes(8, int(2, opset)), ...Object.entries(domains).map(([k, v]) => bytes(8, Buffer.concat([text(1, k), int(2, v)]))), text(99, 'a field that nobody knows')]);
}

// A tensor whose elements lie in a file beside the model.
export const external = (name, t, location, offset, length) => ({ raw: Buffer.concat([...t.shape.map(d => int(1, d)), int(2, TYPES[t.dtype]), text(8, name),
  ...[['location', location], ['offset', String(offset)], ['length', String(length)]].map(([k, v]) => bytes(13, Buffer.concat([text(1, k), text(2, v)]))), int(14, 1)]) });

export function npy(t) {
  let head = `{'descr': '${NPY[t.dtype]}', 'fortran_order': False, 'shape': (${t.shape.map(d => d + ',').join(' ')}), }`;
  head += ' '.repeat((64 - (11 + head.length) % 64) % 64) + '\n';
  const n = Buffer.alloc(2);
  n.writeUInt16LE(head.length);
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), n, Buffer.from(head), raw(t)]);
}

export function readNpy(b) {
  const n = b.readUInt16LE(8), head = b.subarray(10, 10 + n).toString();
  const dtype = Object.keys(NPY).find(k => head.includes(`'${NPY[k]}'`));
  const shape = head.match(/'shape': \(([^)]*)\)/)[1].split(',').map(s => s.trim()).filter(s => s).map(Number);
  const body = new Uint8Array(b.subarray(10 + n));
  return { dtype, shape, data: [...new ARRAYS[dtype](body.buffer, 0, body.byteLength / ARRAYS[dtype].BYTES_PER_ELEMENT)].map(Number) };
}
