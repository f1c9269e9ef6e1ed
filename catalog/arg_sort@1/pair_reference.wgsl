// Ranks of 64-bit integers held as (low, high): the number of elements of the row that come before, equal ones at lower
// positions among them. y at place r is the position with rank r.
alias T = vec2<u32>;
struct Params { inner: u32, length: u32, descending: u32, signed: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> rank: array<u32>;
@group(0) @binding(2) var<storage, read_write> y: array<i32>;
@group(0) @binding(3) var<uniform> p: Params;

fn less(a: T, b: T) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  if (p.signed != 0u) { return bitcast<i32>(a.y) < bitcast<i32>(b.y); }
  return a.y < b.y;
}

fn before(a: T, b: T) -> bool { return select(less(a, b), less(b, a), p.descending == 1u); }

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
