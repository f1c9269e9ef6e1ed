// One row along the axis a lane, in order.
alias T = i32;
struct Params { inner: u32, length: u32, exclusive: u32, reversed: u32, rows: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.rows) { return; }
  let base = (i / p.inner) * p.length * p.inner + i % p.inner;
  var sum = T();
  for (var j = 0u; j < p.length; j++) {
    let at = base + select(j, p.length - 1u - j, p.reversed != 0u) * p.inner;
    let v = x[at];
    let next = sum + v;
    y[at] = select(next, sum, p.exclusive != 0u);
    sum = next;
  }
}
