// One invocation goes through x.
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<storage, read_write> m: u32;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(1)
fn main() {
  var at = 0u;
  for (var i = 0u; i < p.n; i++) {
    if (x[i] > 0.0) {
      y[at] = x[i];
      at++;
    }
  }
  m = at;
}
