// run: grid=4 fill=special
// Values that bit patterns make, told apart by bits.
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> y: array<i32>;
@group(0) @binding(2) var<storage, read_write> o: array<vec4<u32>>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let v = x[g.x];
  let f = frexp(vec2(v, v * 8.0));
  let m = modf(v);
  o[g.x] = vec4(u32(f.exp.x - f.exp.y), bitcast<u32>(abs(f.fract.x)), bitcast<u32>(abs(m.whole)), bitcast<u32>(ldexp(abs(f.fract.y), clamp(y[g.x], -30, 30))));
}
