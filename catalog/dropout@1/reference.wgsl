// Element i is dropped when the top 24 bits of word i % 4 of Philox at the counter i / 4 are below limit.
alias T = f32;
struct Params { count: u32, seed: u32, stream: u32, has_step: u32, limit: u32, scale: f32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> step: array<i32>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

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

// Four words for the elements from 4 block on. The 2 sets them apart from those of random_uniform and random_normal.
fn words_of(block: u32) -> vec4<u32> {
  var turn = 0u;
  if (p.has_step != 0u) { turn = u32(step[0]); }
  return philox(vec4<u32>(block, turn, 0u, 2u), vec2<u32>(p.seed, p.stream));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let words = words_of(i / 4u);
  if ((words[i % 4u] >> 8u) < p.limit) {
    y[i] = T();
  } else {
    y[i] = T(f32(x[i]) * p.scale);
  }
}
