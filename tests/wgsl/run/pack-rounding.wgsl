// run: grid=4 fill=unit
// The rounding of the scaled value may move what lies next to a tie.
@group(0) @binding(0) var<storage, read> x: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> o: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let v = x[g.x] * 0.99;
  o[g.x] = pack2x16unorm(v) ^ pack2x16snorm(v) ^ pack4x8unorm(v.xyxy) ^ pack4x8snorm(v.yxyx);
}
