// Bin k counts the elements from its edge on and below the next; the last bin has its upper edge too.
alias T = f32;
struct Params { count: u32, bins: u32, low: f32, high: f32, step: f32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

fn edge(k: u32) -> f32 { return select(p.low + f32(k) * p.step, p.high, k == p.bins); }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 64u) + id.x;
  if (k >= p.bins) { return; }
  let first = edge(k);
  let next = edge(k + 1u);
  var sum = 0u;
  for (var i = 0u; i < p.count; i++) {
    let v = f32(x[i]);
    if (v >= first && (v < next || (k + 1u == p.bins && v <= next))) { sum++; }
  }
  y[k] = sum;
}
