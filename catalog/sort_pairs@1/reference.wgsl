// The rank of a pair is the number of pairs that come before it: those of a lesser key, and of an equal one those that stood before.
struct Params { n: u32, mask: u32 }
@group(0) @binding(0) var<storage, read> key: array<u32>;
@group(0) @binding(1) var<storage, read> value: array<u32>;
@group(0) @binding(2) var<storage, read> count: array<u32>;
@group(0) @binding(3) var<storage, read_write> sorted_key: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_value: array<u32>;
@group(0) @binding(5) var<storage, read_write> rank: array<u32>;
@group(0) @binding(6) var<uniform> p: Params;

// What lies behind the pairs that count.
@compute @workgroup_size(64)
fn rest(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n || i < count[0]) { return; }
  sorted_key[i] = 0xffffffffu;
  sorted_value[i] = 0xffffffffu;
  rank[i] = 0xffffffffu;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  let n = min(count[0], p.n);
  if (i >= n) { return; }
  let mine = key[i] & p.mask;
  var before = 0u;
  for (var j = 0u; j < n; j++) {
    let other = key[j] & p.mask;
    if (other < mine || (other == mine && j < i)) { before++; }
  }
  sorted_key[before] = key[i];
  sorted_value[before] = value[i];
  rank[i] = before;
}
