// Greatest of the terms, in order.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { kept: View, reduced: View, count: u32, length: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

fn kept_at(index: u32) -> u32 {
  var rest = index;
  var at = p.kept.offset;
  for (var r = p.kept.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.kept.dims[d / 4u][d % 4u];
    at += (rest % n) * p.kept.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

fn reduced_at(index: u32) -> u32 {
  var rest = index;
  var at = p.reduced.offset;
  for (var r = p.reduced.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.reduced.dims[d / 4u][d % 4u];
    at += (rest % n) * p.reduced.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let base = kept_at(i);
  var best = x[base + reduced_at(0u)];
  for (var j = 1u; j < p.length; j++) { best = max(best, x[base + reduced_at(j)]); }
  y[i] = best;
}
