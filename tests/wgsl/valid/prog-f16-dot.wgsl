// run: fill=unit
enable f16;
@group(0) @binding(0) var<storage> a: array<vec4<f16>>;
@group(0) @binding(1) var<storage> b: array<vec4h>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) g: vec3u) {
  let p = a[g.x] * b[g.x];
  let h: f16 = p.x + p.y + p.z + p.w;
  c[g.x] = f32(h) + f32(dot(a[g.x], b[g.x])) * 0.5 + f32(1.5h);
}
