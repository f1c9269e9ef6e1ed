// run: grid=1 fill=unit
struct M { a: mat2x2<f32>, b: mat2x3<f32>, c: mat2x4<f32>, d: mat3x2<f32>, e: mat3x3<f32>, f: mat3x4<f32>, g: mat4x2<f32>, h: mat4x3<f32>, i: mat4x4<f32> }
@group(0) @binding(0) var<storage, read> x: array<M, 16>;
@group(0) @binding(1) var<storage, read_write> o: array<M, 16>;
@group(0) @binding(2) var<storage, read_write> p: array<M, 16>;
@group(0) @binding(3) var<storage, read_write> q: array<vec4<f32>, 128>;
@group(0) @binding(4) var<uniform> u: M;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) l: u32) {
  let m = x[l];
  o[l] = M(transpose(m.a), transpose(m.d), transpose(m.g), transpose(m.b), transpose(m.e), transpose(m.h), transpose(m.c), transpose(m.f), transpose(m.i));
  p[l].a = m.g * m.c + m.a * 2.0 - m.a;
  p[l].b = m.e * m.b;
  p[l].c = m.f * m.b + u.c;
  p[l].d = m.a * m.d;
  p[l].e = m.h * m.f;
  p[l].f = 0.5 * m.f;
  p[l].g = m.d * m.h;
  p[l].h = m.b * m.g;
  p[l].i = m.i * u.i;
  q[l * 8] = vec4(determinant(m.a), determinant(m.e), determinant(m.i), determinant(u.e));
  q[l * 8 + 1] = m.i * m.i[1] + m.i[l & 3];
  q[l * 8 + 2] = m.i[2] * m.i;
  q[l * 8 + 3] = vec4(m.e * m.e[0], m.c[1][l & 3]);
  q[l * 8 + 4] = vec4(m.d[2] * m.a, m.b[1].xy);
  var w = m.i;
  w[l & 3] = vec4(1.0, 2.0, 3.0, 4.0);
  w[1][l & 3] = -1.0;
  w *= 2.0;
  q[l * 8 + 5] = w[l & 3];
  w = w * m.i;
  q[l * 8 + 6] = w[3];
}
