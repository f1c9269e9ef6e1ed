// y in its own order, read from x through a view with permuted strides.
alias T = f32;
struct View { rank: u32, offset: u32, size: u32, pad: u32, dims: array<vec4<u32>, 2>, strides: array<vec4<u32>, 2> }
struct Params { src: View, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

fn source(index: u32) -> u32 {
  var rest = index;
  var at = p.src.offset;
  for (var r = p.src.rank; r > 0u; r--) {
    let d = r - 1u;
    let n = p.src.dims[d / 4u][d % 4u];
    at += (rest % n) * p.src.strides[d / 4u][d % 4u];
    rest /= n;
  }
  return at;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  y[i] = x[source(i)];
}
