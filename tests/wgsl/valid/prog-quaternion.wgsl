// run: fill=unit
struct Splat {
  center: vec3f,
  opacity: f32,
  rotation: vec4f,
  scale: vec3f,
}
struct Camera {
  view: mat4x4f,
  focal: vec2f,
  size: vec2u,
}
@group(0) @binding(0) var<uniform> cam: Camera;
@group(0) @binding(1) var<storage> splats: array<Splat>;
@group(0) @binding(2) var<storage, read_write> conics: array<vec4f>;

fn rotation_of(q: vec4f) -> mat3x3f {
  let r = q.x;
  let i = q.y;
  let j = q.z;
  let k = q.w;
  return mat3x3f(
    1.0 - 2.0 * (j * j + k * k), 2.0 * (i * j + r * k), 2.0 * (i * k - r * j),
    2.0 * (i * j - r * k), 1.0 - 2.0 * (i * i + k * k), 2.0 * (j * k + r * i),
    2.0 * (i * k + r * j), 2.0 * (j * k - r * i), 1.0 - 2.0 * (i * i + j * j));
}

fn covariance(s: Splat) -> mat3x3f {
  let m = rotation_of(normalize(s.rotation)) * mat3x3(vec3(s.scale.x, 0, 0), vec3(0, s.scale.y, 0), vec3(0, 0, s.scale.z));
  return m * transpose(m);
}

@compute @workgroup_size(64)
fn project(@builtin(global_invocation_id) g: vec3u) {
  if g.x >= arrayLength(&splats) {
    return;
  }
  let s = splats[g.x];
  let p = (cam.view * vec4f(s.center, 1.0)).xyz;
  if p.z < 0.01 {
    conics[g.x] = vec4f();
    return;
  }
  let j = mat3x3f(vec3f(cam.focal.x / p.z, 0.0, 0.0), vec3f(0.0, cam.focal.y / p.z, 0.0), vec3f(-cam.focal * p.xy / (p.z * p.z), 0.0));
  let w = mat3x3f(cam.view[0].xyz, cam.view[1].xyz, cam.view[2].xyz);
  let t = j * w;
  let c = t * covariance(s) * transpose(t);
  let det = c[0][0] * c[1][1] - c[0][1] * c[1][0];
  conics[g.x] = vec4f(vec3f(c[1][1], -c[0][1], c[0][0]) / det, s.opacity);
}
