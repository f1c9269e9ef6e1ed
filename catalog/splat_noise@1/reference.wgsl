// One splat an invocation.
struct Params { n: u32 }
@group(0) @binding(0) var<storage, read_write> geometry: array<f32>;
@group(0) @binding(1) var<storage, read> key: array<u32>;
@group(0) @binding(2) var<storage, read> strength: array<f32>;
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

// A multiple of 2^-24 above 0 and up to 1; exact.
fn portion(word: u32) -> f32 { return f32((word >> 8u) + 1u) * 5.9604644775390625e-8; }

fn normal_pair(a: u32, b: u32) -> vec2<f32> {
  let size = sqrt(-2.0 * log(portion(a)));
  let angle = 3.14159265 * (2.0 * portion(b) - 1.0);
  return size * vec2<f32>(cos(angle), sin(angle));
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n || strength[0] == 0.0) { return; }
  let words = philox(vec4<u32>(i, 0u, 0u, 2u), vec2<u32>(key[0], key[1]));
  let e = vec3<f32>(normal_pair(words.x, words.y), normal_pair(words.z, words.w).x);
  let g = i * 11u;
  let opacity = 1.0 / (1.0 + exp(-geometry[g + 10u]));
  let gate = strength[0] / (1.0 + exp(100.0 * (opacity - strength[1])));
  let quaternion = vec4<f32>(geometry[g + 6u], geometry[g + 7u], geometry[g + 8u], geometry[g + 9u]);
  let q = quaternion / max(length(quaternion), 1e-12);
  let w = q.x;
  let x = q.y;
  let y = q.z;
  let z = q.w;
  let r = mat3x3<f32>(
    vec3<f32>(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
    vec3<f32>(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
    vec3<f32>(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)));
  let square = exp(2.0 * vec3<f32>(geometry[g + 3u], geometry[g + 4u], geometry[g + 5u]));
  let moved = gate * (r * (square * (e * r)));
  geometry[g] += moved.x;
  geometry[g + 1u] += moved.y;
  geometry[g + 2u] += moved.z;
}
