const WMAX = 31u;
override w: u32 = 7u;
@group(0) @binding(0) var<storage> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) g: vec3u) {
  let i = g.x;
  if i + w > arrayLength(&x) { return; }
  var v: array<f32, WMAX>;
  for (var k = 0u; k < w; k++) {
    let a = x[i + k];
    var j = k;
    loop {
      if j == 0u { break; }
      if v[j - 1u] <= a { break; }
      v[j] = v[j - 1u];
      continuing {
        j--;
      }
    }
    v[j] = a;
  }
  y[i] = v[w / 2u];
}
