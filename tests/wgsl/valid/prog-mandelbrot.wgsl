@group(0) @binding(0) var<storage, read_write> image: array<u32>;
struct View { center: vec2f, scale: f32, size: vec2u, limit: u32 }
@group(0) @binding(1) var<uniform> view: View;

@compute @workgroup_size(16, 16, 1)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= view.size.x || id.y >= view.size.y) { return; }
  let c = view.center + (vec2f(id.xy) / vec2f(view.size) - 0.5) * view.scale;
  var z = vec2f();
  var i = 0u;
  while (i < view.limit && dot(z, z) < 4.0) {
    z = vec2f(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    i++;
  }
  let t = f32(i) / f32(view.limit);
  image[id.y * view.size.x + id.x] = pack4x8unorm(vec4f(t, t * t, sqrt(t), 1.0));
}
