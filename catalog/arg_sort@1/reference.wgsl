// The rank of an element is the number of elements of its row that come before it: those that are less (or greater, when
// descending), equal ones at lower positions, and for a NaN everything else. y at place r is the position with rank r.
alias T = f32;
struct Params { inner: u32, length: u32, descending: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> rank: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;
@group(0) @binding(3) var<uniform> p: Params;

fn before(a: T, b: T) -> bool {
  let a_nan = a != a;
  let b_nan = b != b;
  if (a_nan || b_nan) { return b_nan && !a_nan; }
  return select(a < b, b < a, p.descending == 1u);
}

fn row_start(i: u32) -> u32 { return (i / (p.inner * p.length)) * p.length * p.inner + i % p.inner; }

@compute @workgroup_size(64)
fn ranks(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let start = row_start(i);
  let mine = x[i];
  let place = (i / p.inner) % p.length;
  var sum = 0u;
  for (var j = 0u; j < p.length; j++) {
    let other = x[start + j * p.inner];
    if (before(other, mine) || (j < place && !before(mine, other))) { sum++; }
  }
  rank[i] = sum;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let start = row_start(i);
  let place = (i / p.inner) % p.length;
  var found = 0u;
  for (var j = 0u; j < p.length; j++) {
    if (rank[start + j * p.inner] == place) { found = j; }
  }
  y[i] = i32(found);
}
