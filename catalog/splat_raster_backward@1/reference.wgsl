// A tile an invocation goes through its pixels and adds what each gives to its pairs; then each splat sums its pairs. With what is
// blended so far and what there is in the end, nothing has to be walked backwards.
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

@compute @workgroup_size(64)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i < p.c * 9u) { part[i] = 0.0; }
}

@compute @workgroup_size(64)
fn tiles(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let t = id.y * (groups.x * 64u) + id.x;
  if (t >= p.tiles) { return; }
  for (var k = 0u; k < 256u; k++) {
    let column = (t % p.across) * 16u + k % 16u;
    let row = (t / p.across) * 16u + k / 16u;
    if (column >= p.width || row >= p.height) { continue; }
    let at = (row * p.width + column) * 4u;
    let g = vec3<f32>(d_image[at], d_image[at + 1u], d_image[at + 2u]);
    let total = dot(vec3<f32>(image[at], image[at + 1u], image[at + 2u]), g) + image[at + 3u] * d_image[at + 3u];
    var left = 1.0;
    var blended = 0.0;
    for (var j = range[t * 2u]; j < min(range[t * 2u + 1u], p.c); j++) {
      let i = owner[j];
      if (i >= p.n || tile[j] != t) { continue; }
      let s = i * 9u;
      let dx = f32(column) + 0.5 - splat[s];
      let dy = f32(row) + 0.5 - splat[s + 1u];
      let power = -0.5 * (splat[s + 2u] * dx * dx + splat[s + 4u] * dy * dy) - splat[s + 3u] * dx * dy;
      if (!(power <= 0.0)) { continue; }
      let falloff = exp(power);
      let alpha = min(0.99, splat[s + 5u] * falloff);
      if (!(alpha >= 0.00392156862745098)) { continue; }
      if (left * (1.0 - alpha) < 1e-4) { break; }
      let weight = left * alpha;
      let towards = dot(vec3<f32>(splat[s + 6u], splat[s + 7u], splat[s + 8u]), g);
      blended += weight * towards;
      let g_alpha = left * towards - (total - blended) / (1.0 - alpha);
      let q = j * 9u;
      if (splat[s + 5u] * falloff < 0.99) {
        let g_power = alpha * g_alpha;
        part[q] += g_power * (splat[s + 2u] * dx + splat[s + 3u] * dy);
        part[q + 1u] += g_power * (splat[s + 3u] * dx + splat[s + 4u] * dy);
        part[q + 2u] += -0.5 * g_power * dx * dx;
        part[q + 3u] += -g_power * dx * dy;
        part[q + 4u] += -0.5 * g_power * dy * dy;
        part[q + 5u] += falloff * g_alpha;
      }
      part[q + 6u] += weight * g.x;
      part[q + 7u] += weight * g.y;
      part[q + 8u] += weight * g.z;
      left *= 1.0 - alpha;
    }
  }
}

@compute @workgroup_size(64)
fn gather(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n) { return; }
  for (var k = 0u; k < 9u; k++) { d_splat[i * 9u + k] = 0.0; }
  let j = place[i];
  if (j >= p.n) { return; }
  let begin = min(first[j * 2u], p.c);
  for (var e = begin; e < begin + min(first[j * 2u + 1u], p.c - begin); e++) {
    let q = rank[e];
    if (q >= p.c) { continue; }
    for (var k = 0u; k < 9u; k++) { d_splat[i * 9u + k] += part[q * 9u + k]; }
  }
}
