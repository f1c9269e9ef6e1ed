// Wide windows: after k turns of `double` an element holds the greatest of the 2^k from it on, or of what its row has left;
// two such spans, that may overlap, cover a window.
alias T = f32;
struct Params { n: u32, results: u32, w: u32, count: u32, level: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> even: array<T>; // the source of even turns from 2 on
@group(0) @binding(3) var<storage, read_write> odd: array<T>;
@group(0) @binding(4) var<uniform> p: Params;
@group(0) @binding(5) var<uniform> turn: Params;

fn source(at: u32, level: u32) -> T {
  if (level == 0u) { return x[at]; }
  if ((level & 1u) == 1u) { return odd[at]; }
  return even[at];
}

@compute @workgroup_size(256)
fn double(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= turn.count) { return; }
  let gap = 1u << turn.level;
  var best = source(i, turn.level);
  if (i % turn.n + gap < turn.n) { best = max(best, source(i + gap, turn.level)); }
  if ((turn.level & 1u) == 1u) { even[i] = best; } else { odd[i] = best; }
}

@compute @workgroup_size(256)
fn join(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.count) { return; }
  let start = (i / p.results) * p.n + i % p.results;
  y[i] = max(source(start, p.level), source(start + p.w - (1u << p.level), p.level));
}
