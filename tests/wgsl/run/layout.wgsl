// run: grid=1 fill=random
struct In { @align(16) a: u32, b: vec3<f32>, c: f32 }
struct S {
  a: i32, @align(32) b: vec2<u32>, @size(48) c: vec3<i32>, d: array<In, 3>, e: array<vec3<u32>, 2>,
  f: mat2x3<f32>, g: array<mat3x2<f32>, 2>, h: atomic<u32>, i: array<array<u32, 3>, 2>, j: array<u32>,
}
struct U { a: vec3<f32>, b: f32, @align(16) c: array<vec4<i32>, 2>, d: mat3x3<f32>, @size(32) e: u32, f: In }
@group(1) @binding(0) var<storage, read_write> s: S;
@group(0) @binding(5) var<uniform> u: U;
@group(0) @binding(0) var<storage, read_write> o: array<u32, 64>;
fn sum(p: ptr<storage, array<In, 3>, read_write>, k: u32) -> u32 { return (*p)[k].a + p[k ^ 1].a; }
fn put(p: ptr<storage, array<u32>, read_write>, k: u32, v: u32) { (*p)[k] = v + arrayLength(p); }
@compute @workgroup_size(1) fn main() {
  o[0] = u32(s.a) + s.b.y + u32(s.c.z);
  o[1] = s.e[1].z + s.i[1][2] + atomicLoad(&s.h);
  o[2] = bitcast<u32>(s.f[1].z);
  o[3] = bitcast<u32>(s.g[1][2].y);
  o[4] = sum(&s.d, 1u);
  o[5] = arrayLength(&s.j);
  o[6] = u32(u.c[1].w) + u.e + u.f.a;
  o[7] = bitcast<u32>(u.d[2].z) ^ bitcast<u32>(u.b) ^ bitcast<u32>(u.f.c);
  s.d[2] = In(7u, u.a, u.b);
  s.d[0].b = vec3(1.0, 2.0, 3.0);
  s.e[0] = vec3(8u, 9u, 10u);
  s.f[0] = vec3(0.5);
  s.g[0] = mat3x2(1.0, 2.0, 3.0, 4.0, 5.0, 6.0);
  s.i[0] = array(11u, 12u, 13u);
  atomicStore(&s.h, 77u);
  put(&s.j, 3u, s.j[2]);
  s.b = s.b.yx;
  s.c.y = -1;
  let p = &s.d[1];
  (*p).c = 2.5;
  p.a += 3u;
  var copy = s.d;
  copy[1].a = 99u;
  o[8] = s.d[1].a + copy[1].a;
}
