// Each element of y looks whether it lies in the window.
alias T = f32;
struct Params { shape: array<vec4<u32>, 2>, window: array<vec4<u32>, 2>, starts: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2>, rank: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> update: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var rest = i;
  var at = 0u;
  var scale = 1u;
  var inside = true;
  for (var r = p.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.shape[d / 4u][d % 4u];
    let start = p.starts[d / 4u][d % 4u];
    let step = p.strides[d / 4u][d % 4u];
    let size = p.window[d / 4u][d % 4u];
    let c = rest % n;
    rest /= n;
    let k = (c - start) / step;
    inside = inside && c >= start && (c - start) % step == 0u && k < size;
    at += k * scale;
    scale *= size;
  }
  if (inside) { y[i] = update[at]; } else { y[i] = x[i]; }
}
