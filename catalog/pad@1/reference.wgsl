// Each element of y finds its source coordinate by coordinate.
alias T = f32;
struct Params { src: array<vec4<u32>, 2>, margin: array<vec4<u32>, 2>, to: array<vec4<u32>, 2>, rank: u32, mode: u32, value: T, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

const EDGE = 1u;
const REFLECTION = 2u;

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
    let n = i32(p.src[d / 4u][d % 4u]);
    let m = p.to[d / 4u][d % 4u];
    var c = i32(rest % m) - i32(p.margin[d / 4u][d % 4u]);
    rest /= m;
    if (c < 0 || c >= n) {
      if (p.mode == EDGE) {
        c = clamp(c, 0, n - 1);
      } else if (p.mode == REFLECTION) {
        if (c < 0) { c = -c; }
        if (c >= n) { c = 2 * (n - 1) - c; }
      } else {
        inside = false;
        c = 0;
      }
    }
    at += u32(c) * scale;
    scale *= u32(n);
  }
  if (inside) { y[i] = x[at]; } else { y[i] = p.value; }
}
