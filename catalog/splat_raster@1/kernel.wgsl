// A tile a workgroup, a pixel a lane; 256 splats at a time come through workgroup memory. It ends when no lane goes on.
struct Params { n: u32, c: u32, width: u32, height: u32, across: u32, tiles: u32 }
@group(0) @binding(0) var<storage, read> splat: array<f32>;
@group(0) @binding(1) var<storage, read> owner: array<u32>;
@group(0) @binding(2) var<storage, read> range: array<u32>;
@group(0) @binding(3) var<storage, read> background: array<f32>;
@group(0) @binding(4) var<storage, read_write> image: array<f32>;
@group(0) @binding(5) var<uniform> p: Params;

var<workgroup> shape: array<vec4<f32>, 256>;   // x, y, opacity, red
var<workgroup> conic: array<vec4<f32>, 256>;   // a, b, c, green
var<workgroup> blue: array<f32, 256>;
var<workgroup> going: atomic<u32>;
var<workgroup> all_done: u32;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let t = group.y * groups.x + group.x;
  if (t >= p.tiles) { return; }
  let column = (t % p.across) * 16u + lane % 16u;
  let row = (t / p.across) * 16u + lane / 16u;
  let inside = column < p.width && row < p.height;
  let first = range[t * 2u];
  let end = min(range[t * 2u + 1u], p.c);
  let x = f32(column) + 0.5;
  let y = f32(row) + 0.5;
  var left = 1.0;
  var color = vec3<f32>(0.0);
  var done = !inside;
  for (var start = first; start < end; start += 256u) {
    if (lane == 0u) { atomicStore(&going, 0u); }
    workgroupBarrier();
    if (!done) { atomicOr(&going, 1u); }
    if (lane < end - start) {
      let i = owner[start + lane];
      if (i < p.n) {
        let s = i * 9u;
        shape[lane] = vec4<f32>(splat[s], splat[s + 1u], splat[s + 5u], splat[s + 6u]);
        conic[lane] = vec4<f32>(splat[s + 2u], splat[s + 3u], splat[s + 4u], splat[s + 7u]);
        blue[lane] = splat[s + 8u];
      } else { // nothing to see
        shape[lane] = vec4<f32>(0.0);
        conic[lane] = vec4<f32>(0.0);
        blue[lane] = 0.0;
      }
    }
    workgroupBarrier();
    if (lane == 0u) { all_done = 1u - atomicLoad(&going); }
    if (workgroupUniformLoad(&all_done) == 1u) { break; }
    let n = min(256u, end - start);
    for (var k = 0u; k < n && !done; k++) {
      let q = shape[k];
      let c = conic[k];
      let dx = x - q.x;
      let dy = y - q.y;
      let power = -0.5 * (c.x * dx * dx + c.z * dy * dy) - c.y * dx * dy;
      if (!(power <= 0.0)) { continue; }
      let alpha = min(0.99, q.z * exp(power));
      if (!(alpha >= 0.00392156862745098)) { continue; }
      if (left * (1.0 - alpha) < 1e-4) {
        done = true;
        continue;
      }
      color += left * alpha * vec3<f32>(q.w, c.w, blue[k]);
      left *= 1.0 - alpha;
    }
    workgroupBarrier();
  }
  if (!inside) { return; }
  let at = (row * p.width + column) * 4u;
  image[at] = color.x + left * background[0];
  image[at + 1u] = color.y + left * background[1];
  image[at + 2u] = color.z + left * background[2];
  image[at + 3u] = left;
}
