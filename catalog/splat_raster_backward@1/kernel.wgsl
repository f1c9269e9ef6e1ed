// A tile a workgroup, a splat a lane, 64 at a time: pixel k meets lane 0 at turn k, lane 1 at turn k + 1 and so on, and its state of
// blending goes with it through workgroup memory. A lane adds up its splat over the pixels in their order and writes once: no atomics.
struct Params { n: u32, c: u32, width: u32, height: u32, across: u32, tiles: u32 }
@group(0) @binding(0) var<storage, read> splat: array<f32>;
@group(0) @binding(1) var<storage, read> tile: array<u32>;
@group(0) @binding(2) var<storage, read> owner: array<u32>;
@group(0) @binding(3) var<storage, read> range: array<u32>;
@group(0) @binding(4) var<storage, read> image: array<f32>;
@group(0) @binding(5) var<storage, read> d_image: array<f32>;
@group(0) @binding(6) var<storage, read> place: array<u32>;
@group(0) @binding(7) var<storage, read> first: array<u32>;
@group(0) @binding(8) var<storage, read> rank: array<u32>;
@group(0) @binding(9) var<storage, read_write> d_splat: array<f32>;
@group(0) @binding(10) var<storage, read_write> part: array<f32>;
@group(0) @binding(11) var<uniform> p: Params;

var<workgroup> gradient: array<vec4<f32>, 256>; // of the colour; then colour and transmittance of the end times theirs
var<workgroup> state: array<vec2<f32>, 256>;    // transmittance, 0 where the pixel has ended; blended so far, times the gradient
var<workgroup> going: atomic<u32>;
var<workgroup> all_done: u32;

@compute @workgroup_size(64)
fn tiles(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
         @builtin(local_invocation_index) lane: u32) {
  let t = group.y * groups.x + group.x;
  if (t >= p.tiles) { return; }
  let x0 = (t % p.across) * 16u;
  let y0 = (t / p.across) * 16u;
  for (var k = lane; k < 256u; k += 64u) {
    let column = x0 + k % 16u;
    let row = y0 + k / 16u;
    gradient[k] = vec4<f32>(0.0);
    state[k] = vec2<f32>(0.0);
    if (column < p.width && row < p.height) {
      let at = (row * p.width + column) * 4u;
      let g = vec3<f32>(d_image[at], d_image[at + 1u], d_image[at + 2u]);
      gradient[k] = vec4<f32>(g, dot(vec3<f32>(image[at], image[at + 1u], image[at + 2u]), g) + image[at + 3u] * d_image[at + 3u]);
      state[k] = vec2<f32>(1.0, 0.0);
    }
  }
  let begin = range[t * 2u];
  let end = min(range[t * 2u + 1u], p.c);
  for (var start = begin; start < end; start += 64u) {
    if (lane == 0u) { atomicStore(&going, 0u); }
    workgroupBarrier();
    for (var k = lane; k < 256u; k += 64u) {
      if (state[k].x > 0.0) { atomicOr(&going, 1u); }
    }
    workgroupBarrier();
    if (lane == 0u) { all_done = 1u - atomicLoad(&going); }
    let finished = workgroupUniformLoad(&all_done) == 1u;
    let j = start + lane;
    let named = lane < end - start && tile[min(j, p.c - 1u)] == t;
    var i = p.n;
    if (named) { i = owner[j]; }
    let drawn = i < p.n;
    var centre = vec2<f32>(0.0);
    var conic = vec3<f32>(0.0);
    var opacity = 0.0;
    var color = vec3<f32>(0.0);
    if (drawn) {
      let s = i * 9u;
      centre = vec2<f32>(splat[s], splat[s + 1u]);
      conic = vec3<f32>(splat[s + 2u], splat[s + 3u], splat[s + 4u]);
      opacity = splat[s + 5u];
      color = vec3<f32>(splat[s + 6u], splat[s + 7u], splat[s + 8u]);
    }
    var g_centre = vec2<f32>(0.0);
    var g_conic = vec3<f32>(0.0);
    var g_opacity = 0.0;
    var g_color = vec3<f32>(0.0);
    let turns = select(255u + min(64u, end - start), 0u, finished);
    for (var turn = 0u; turn < turns; turn++) {
      let k = turn - lane; // wraps round for lanes whose first pixel is still to come
      if (drawn && k < 256u) {
        let before = state[k];
        let dx = f32(x0 + k % 16u) + 0.5 - centre.x;
        let dy = f32(y0 + k / 16u) + 0.5 - centre.y;
        let power = -0.5 * (conic.x * dx * dx + conic.z * dy * dy) - conic.y * dx * dy;
        if (before.x > 0.0 && power <= 0.0) {
          let falloff = exp(power);
          let alpha = min(0.99, opacity * falloff);
          if (alpha >= 0.00392156862745098) {
            let left = before.x * (1.0 - alpha);
            if (left < 1e-4) {
              state[k] = vec2<f32>(0.0);
            } else {
              let g = gradient[k];
              let weight = before.x * alpha;
              let towards = dot(color, g.xyz);
              let blended = before.y + weight * towards;
              let g_alpha = before.x * towards - (g.w - blended) / (1.0 - alpha);
              if (opacity * falloff < 0.99) {
                let g_power = alpha * g_alpha;
                g_centre += g_power * vec2<f32>(conic.x * dx + conic.y * dy, conic.y * dx + conic.z * dy);
                g_conic -= g_power * vec3<f32>(0.5 * dx * dx, dx * dy, 0.5 * dy * dy);
                g_opacity += falloff * g_alpha;
              }
              g_color += weight * g.xyz;
              state[k] = vec2<f32>(left, blended);
            }
          }
        }
      }
      workgroupBarrier();
    }
    if (named) {
      let q = j * 9u;
      part[q] = g_centre.x;
      part[q + 1u] = g_centre.y;
      part[q + 2u] = g_conic.x;
      part[q + 3u] = g_conic.y;
      part[q + 4u] = g_conic.z;
      part[q + 5u] = g_opacity;
      part[q + 6u] = g_color.x;
      part[q + 7u] = g_color.y;
      part[q + 8u] = g_color.z;
    }
  }
}

@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n) { return; }
  var sum = array<f32, 9>();
  let j = place[i];
  if (j < p.n) {
    let begin = min(first[j * 2u], p.c);
    let end = begin + min(first[j * 2u + 1u], p.c - begin);
    for (var e = begin; e < end; e++) {
      let q = rank[e];
      if (q >= p.c) { continue; }
      let t = tile[q];
      // Only what a tile has written.
      if (t >= p.tiles || q < range[t * 2u] || q >= range[t * 2u + 1u]) { continue; }
      for (var k = 0u; k < 9u; k++) { sum[k] += part[q * 9u + k]; }
    }
  }
  for (var k = 0u; k < 9u; k++) { d_splat[i * 9u + k] = sum[k]; }
}
