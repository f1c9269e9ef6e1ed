// A lane makes the four numbers of one counter of Philox.
struct Params { count: u32, seed: u32, stream: u32, low: f32, scale: f32, zero: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@group(0) @binding(1) var<uniform> p: Params;

// The high word of a * b.
fn high_word(a: u32, b: u32) -> u32 {
  let low = (a & 0xffffu) * (b & 0xffffu);
  let middle = (a >> 16u) * (b & 0xffffu) + (low >> 16u);
  let cross = (middle & 0xffffu) + (a & 0xffffu) * (b >> 16u);
  return (a >> 16u) * (b >> 16u) + (middle >> 16u) + (cross >> 16u);
}

// Philox 4x32 with ten rounds: four random words for a counter and a key.
fn philox(counter: vec4<u32>, seed: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var k = seed;
  for (var round = 0u; round < 10u; round++) {
    c = vec4<u32>(high_word(0xcd9e8d57u, c.z) ^ c.y ^ k.x, 0xcd9e8d57u * c.z,
                  high_word(0xd2511f53u, c.x) ^ c.w ^ k.y, 0xd2511f53u * c.x);
    k += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return c;
}

// The top 24 bits as a number from 0 on and below 1, scaled and moved. The exclusive or with zero keeps product and sum apart:
// both are rounded, on every device.
fn uniform_of(word: u32) -> f32 {
  let product = f32(word >> 8u) * 5.9604644775390625e-8 * p.scale;
  return p.low + bitcast<f32>(bitcast<u32>(product) ^ p.zero);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let block = id.y * (groups.x * 64u) + id.x;
  if (block >= (p.count + 3u) / 4u) { return; }
  let words = philox(vec4<u32>(block, 0u, 0u, 0u), vec2<u32>(p.seed, p.stream));
  for (var e = 0u; e < 4u && block * 4u + e < p.count; e++) { y[block * 4u + e] = uniform_of(words[e]); }
}
