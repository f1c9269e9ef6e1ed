// Short rows: every element counts those before it in its row, and writes its position to the place of its rank.
alias T = f32;
struct Params { inner: u32, length: u32, descending: u32, kind: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<i32>;
@group(0) @binding(2) var<uniform> p: Params;

// Unsigned numbers in the order of the elements. kind: 0 float (both zeros equal, NaN last), 1 signed, 2 unsigned.
fn key(v: T) -> u32 {
  var k = u32(v);
  if (p.kind == 1u) { k = bitcast<u32>(i32(v)) ^ 0x80000000u; }
  if (p.kind == 0u) {
    let bits = bitcast<u32>(f32(v));
    let magnitude = bits & 0x7fffffffu;
    if (magnitude > 0x7f800000u) { return 0xffffffffu; }
    k = select(select(bits | 0x80000000u, ~bits, bits != magnitude), 0x80000000u, magnitude == 0u);
  }
  return select(k, ~k, p.descending == 1u);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let start = (i / (p.inner * p.length)) * p.length * p.inner + i % p.inner;
  let mine = key(x[i]);
  let place = (i / p.inner) % p.length;
  var rank = 0u;
  for (var j = 0u; j < p.length; j++) {
    let other = key(x[start + j * p.inner]);
    if (other < mine || (other == mine && j < place)) { rank++; }
  }
  y[start + rank * p.inner] = i32(place);
}
