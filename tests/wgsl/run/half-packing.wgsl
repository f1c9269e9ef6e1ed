// run: grid=4 fill=random
enable f16;
struct H { a: f16, b: vec3<f16>, c: f16, d: mat3x3<f16>, e: array<f16, 5>, f: vec2<f16>, g: f32 }
@group(0) @binding(0) var<storage, read> x: array<H>;
@group(0) @binding(1) var<storage, read_write> o: array<H>;
@group(0) @binding(2) var<storage, read_write> p: array<vec2<u32>>;
@group(0) @binding(3) var<uniform> u: H2;
struct H2 { a: vec4<f16>, b: f16, c: vec2<f16>, d: mat2x2<f16> }
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  var h = x[g.x];
  h.b = h.b.zxy;
  h.e[g.x % 5u] = h.a + h.c;
  h.d[1] = h.d[2] * 0.5h;
  h.f = vec2<f16>(vec2(h.g));
  o[g.x] = h;
  o[g.x].c = -u.b;
  p[g.x] = vec2(bitcast<u32>(abs(h.b.xy)), bitcast<vec2<u32>>(abs(u.a)).y + pack2x16float(floor(vec2(h.g))));
}
