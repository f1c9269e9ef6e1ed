// run: grid=4 fill=unit
// The accuracy of asin and acos is the worse of an absolute error and that of atan2(x, sqrt(1 - x * x)).
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> o: array<vec2<f32>>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  o[g.x] = vec2(asin(x[g.x]), acos(x[g.x]));
}
