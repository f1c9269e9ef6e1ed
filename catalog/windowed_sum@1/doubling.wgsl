// Wide windows: before turn k an element holds the sum of the 2^k from it on. Where w has the bit 2^k, that of the element
// behind the spans of lower bits is added to the result.
alias T = f32;
struct Params { n: u32, results: u32, w: u32, count: u32, level: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<storage, read_write> even: array<T>; // the source of even turns from 2 on
@group(0) @binding(3) var<storage, read_write> odd: array<T>;
@group(0) @binding(4) var<uniform> turn: Params;

fn source(at: u32) -> T {
  if (turn.level == 0u) { return x[at]; }
  if ((turn.level & 1u) == 1u) { return odd[at]; }
  return even[at];
}

@compute @workgroup_size(256)
fn double(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 256u) + id.x;
  if (i >= turn.count) { return; }
  let gap = 1u << turn.level;
  let place = i % turn.n;
  let mine = source(i);
  var sum = mine;
  if (place + gap < turn.n) { sum = sum + source(i + gap); }
  if ((turn.level & 1u) == 1u) { even[i] = sum; } else { odd[i] = sum; }
  if ((turn.w & gap) == 0u || place >= turn.results) { return; }
  let lower = turn.w & (gap - 1u);
  let at = (i / turn.n) * turn.results + place;
  if (lower == 0u) { y[at] = mine; } else { y[at] = y[at] + source(i + lower); }
}
