@group(0) @binding(0) var<storage, read_write> v: array<u32>;

fn morton(x: u32) -> u32 {
  var r = x & 0xffffu;
  r = (r | (r << 8u)) & 0x00ff00ffu;
  r = (r | (r << 4u)) & 0x0f0f0f0fu;
  r = (r | (r << 2u)) & 0x33333333u;
  return (r | (r << 1u)) & 0x55555555u;
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) g: vec3u) {
  let i = g.x;
  var x = v[i];
  x ^= reverseBits(x) >> 3u;
  x = insertBits(x, countOneBits(x), 4u, 6u) + extractBits(x, 2u, 5u);
  x = ~x & (firstLeadingBit(x) | firstTrailingBit(x));
  x += u32(bitcast<i32>(x) >> 2u) % 17u;
  v[i] = morton(x) | (morton(i) << 1u);
}
