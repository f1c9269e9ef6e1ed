// The first pair of tile t and of what follows it, each found by halving.
struct Params { c: u32, tiles: u32 }
@group(0) @binding(0) var<storage, read> tile: array<u32>;
@group(0) @binding(1) var<storage, read> count: array<u32>;
@group(0) @binding(2) var<storage, read_write> range: array<u32>;
@group(0) @binding(3) var<uniform> p: Params;

fn first_from(t: u32) -> u32 {
  var low = 0u;
  var high = min(count[0], p.c);
  while (low < high) {
    let half = (low + high) / 2u;
    if (tile[half] < t) { low = half + 1u; } else { high = half; }
  }
  return low;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let t = id.y * (groups.x * 64u) + id.x;
  if (t >= p.tiles) { return; }
  range[t * 2u] = first_from(t);
  range[t * 2u + 1u] = first_from(t + 1u);
}
