// One pixel an invocation.
struct Params { n: u32, c: u32, width: u32, height: u32, across: u32, tiles: u32 }
@group(0) @binding(0) var<storage, read> splat: array<f32>;
@group(0) @binding(1) var<storage, read> owner: array<u32>;
@group(0) @binding(2) var<storage, read> range: array<u32>;
@group(0) @binding(3) var<storage, read> background: array<f32>;
@group(0) @binding(4) var<storage, read_write> image: array<f32>;
@group(0) @binding(5) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let pixel = id.y * (groups.x * 64u) + id.x;
  if (pixel >= p.width * p.height) { return; }
  let column = pixel % p.width;
  let row = pixel / p.width;
  let t = (row / 16u) * p.across + column / 16u;
  var left = 1.0;
  var color = vec3<f32>(0.0);
  for (var j = range[t * 2u]; j < min(range[t * 2u + 1u], p.c); j++) {
    let i = owner[j];
    if (i >= p.n) { continue; }
    let s = i * 9u;
    let dx = f32(column) + 0.5 - splat[s];
    let dy = f32(row) + 0.5 - splat[s + 1u];
    let power = -0.5 * (splat[s + 2u] * dx * dx + splat[s + 4u] * dy * dy) - splat[s + 3u] * dx * dy;
    if (!(power <= 0.0)) { continue; }
    let alpha = min(0.99, splat[s + 5u] * exp(power));
    if (!(alpha >= 0.00392156862745098)) { continue; }
    if (left * (1.0 - alpha) < 1e-4) { break; }
    color += left * alpha * vec3<f32>(splat[s + 6u], splat[s + 7u], splat[s + 8u]);
    left *= 1.0 - alpha;
  }
  image[pixel * 4u] = color.x + left * background[0];
  image[pixel * 4u + 1u] = color.y + left * background[1];
  image[pixel * 4u + 2u] = color.z + left * background[2];
  image[pixel * 4u + 3u] = left;
}
