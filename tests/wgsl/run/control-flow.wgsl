// run: grid=4 fill=special
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read> y: array<i32>;
@group(0) @binding(2) var<storage, read_write> o: array<u32>;
var<private> calls: u32;
fn bump(v: u32) -> bool { calls = calls * 3u + v; return v % 3u == 0u; }
fn find(p: ptr<function, array<u32, 8>>, v: u32) -> u32 {
  for (var k = 0u; k < 8u; k++) { if ((*p)[k] == v) { return k; } }
  return 8u;
}
fn classify(v: i32) -> u32 {
  switch (v) {
    case -7, 0x7fffffff: { return 1u; }
    case 0, 1, default: { if (v > 10) { break; } return 2u; }
    case 2: { loop { if (v == 2) { return 3u; } } }
  }
  return 4u;
}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {
  let a = x[g.x];
  var r = classify(y[g.x]);
  var t = array(0u, 1u, 31u, 32u, 7u, 8u, 16u, a);
  r = r * 9u + find(&t, a % 40u);
  if ((bump(a) && bump(a + 1u)) || bump(a >> 1u)) { r ^= 0x100u; }
  var k = a & 15u;
  for (var i = 0u; ; i++) {
    if (i > k) { break; }
    var j = 0u;
    loop {
      if (j == i) { break; }
      if ((j ^ i) % 3u == 2u) { j += 2u; if (j > i) { break; } continue; }
      r += j;
      continuing { j++; break if j > 9u; }
    }
    while (j > 2u) { j /= 2u; r = r * 5u + j; }
    if (r % 7u == 6u) { continue; }
    r += 13u;
  }
  o[g.x] = r + calls;
}
