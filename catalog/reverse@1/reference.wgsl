// Coordinates on reversed axes count from the end.
alias T = f32;
struct Params { shape: array<vec4<u32>, 2>, axes: array<vec4<u32>, 2>, n_axes: u32, rank: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var rest = i;
  var at = 0u;
  var scale = 1u;
  for (var r = p.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.shape[d / 4u][d % 4u];
    var c = rest % n;
    rest /= n;
    for (var k = 0u; k < p.n_axes; k++) {
      if (p.axes[k / 4u][k % 4u] == d) { c = n - 1u - c; }
    }
    at += c * scale;
    scale *= n;
  }
  y[i] = x[at];
}
