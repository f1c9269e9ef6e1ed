// The elements to keep, one after another.
alias T = f32;
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> keep: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<storage, read_write> kept: array<u32>;
@group(0) @binding(4) var<uniform> p: Params;

@compute @workgroup_size(1)
fn main() {
  var m = 0u;
  for (var i = 0u; i < p.n; i++) {
    if (keep[i] != 0u) {
      y[m] = x[i];
      m++;
    }
  }
  kept[0] = m;
}
