// Wide windows: after k turns of `double` an element holds the position of the greatest of the 2^k from it on, or of what its
// row has left; two such spans, that may overlap, cover a window. Of equal elements the first stays.
alias T = f32;
struct Params { n: u32, results: u32, w: u32, count: u32, level: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<storage, read_write> even: array<u32>; // the source of even turns from 2 on
@group(0) @binding(3) var<storage, read_write> odd: array<u32>;
@group(0) @binding(4) var<uniform> p: Params;
@group(0) @binding(5) var<uniform> turn: Params;

fn source(at: u32, level: u32) -> u32 {
  if (level == 0u) { return at; }
  if ((level & 1u) == 1u) { return odd[at]; }
  return even[at];
}

fn better(a: u32, b: u32) -> u32 { return select(a, b, x[a] < x[b]); }

@compute @workgroup_size(256)
fn double(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= turn.count) { return; }
  let gap = 1u << turn.level;
  var best = source(i, turn.level);
  if (i % turn.n + gap < turn.n) { best = better(best, source(i + gap, turn.level)); }
  if ((turn.level & 1u) == 1u) { even[i] = best; } else { odd[i] = best; }
}

@compute @workgroup_size(256)
fn join(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= p.count) { return; }
  let row = (i / p.results) * p.n;
  let start = row + i % p.results;
  y[i] = i32(better(source(start, p.level), source(start + p.w - (1u << p.level), p.level)) - row);
}
