// The windowed means of x, y, x^2, y^2 and x y make SSIM s and its slopes by the means of x, x^2 and x y; the gradient at a pixel is the
// windowed sum of the slopes around it, the window being symmetric. x is the picture, y the truth.
struct Params { h: u32, w: u32, window: u32, lambda: f32 }
@group(0) @binding(0) var<storage, read> image: array<f32>;
@group(0) @binding(1) var<storage, read> truth: array<u32>;
@group(0) @binding(2) var<storage, read_write> loss: array<f32>;
@group(0) @binding(3) var<storage, read_write> map: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_image: array<f32>;
@group(0) @binding(5) var<storage, read_write> slopes: array<f32>;
@group(0) @binding(6) var<uniform> p: Params;

const C1: f32 = 1e-4;
const C2: f32 = 9e-4;

// Picture and truth of one channel; nothing where the pixel does not count.
fn values(pixel: u32, channel: u32) -> vec2<f32> {
  let word = truth[pixel];
  if (word >= 0x80000000u) { return vec2<f32>(0.0); }
  return vec2<f32>(image[pixel * 4u + channel], f32((word >> (8u * channel)) & 255u) / 255.0);
}

// One axis of the window, without its sum.
fn bell(k: u32) -> f32 {
  let t = (f32(k) - f32(p.window / 2u)) / 1.5;
  return exp(-0.5 * t * t);
}

fn bell_sum() -> f32 {
  var sum = 0.0;
  for (var k = 0u; k < p.window; k++) { sum += bell(k); }
  return sum;
}

@compute @workgroup_size(64)
fn similarity(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.h * p.w * 3u) { return; }
  let pixel = i / 3u;
  let half = p.window / 2u;
  let sum = bell_sum();
  var m = vec2<f32>(0.0);
  var q = vec3<f32>(0.0);
  for (var a = 0u; a < p.window; a++) {
    for (var b = 0u; b < p.window; b++) {
      let row = pixel / p.w + a;
      let column = pixel % p.w + b;
      if (row < half || column < half || row - half >= p.h || column - half >= p.w) { continue; }
      let v = values((row - half) * p.w + column - half, i % 3u);
      let weight = bell(a) / sum * (bell(b) / sum);
      m += weight * v;
      q += weight * vec3<f32>(v * v, v.x * v.y);
    }
  }
  let a1 = 2.0 * m.x * m.y + C1;
  let a2 = 2.0 * (q.z - m.x * m.y) + C2;
  let b1 = m.x * m.x + m.y * m.y + C1;
  let b2 = q.x - m.x * m.x + q.y - m.y * m.y + C2;
  let s = a1 * a2 / (b1 * b2);
  map[i] = s;
  slopes[i * 3u] = 2.0 * m.y * (a2 - a1) / (b1 * b2) - 2.0 * m.x * s * (1.0 / b1 - 1.0 / b2);
  slopes[i * 3u + 1u] = -s / b2;
  slopes[i * 3u + 2u] = 2.0 * a1 / (b1 * b2);
}

@compute @workgroup_size(64)
fn gradient(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.h * p.w * 4u) { return; }
  let pixel = i / 4u;
  let channel = i % 4u;
  d_image[i] = 0.0;
  if (channel == 3u || truth[pixel] >= 0x80000000u) { return; }
  let half = p.window / 2u;
  let sum = bell_sum();
  var d = vec3<f32>(0.0);
  for (var a = 0u; a < p.window; a++) {
    for (var b = 0u; b < p.window; b++) {
      let row = pixel / p.w + a;
      let column = pixel % p.w + b;
      if (row < half || column < half || row - half >= p.h || column - half >= p.w) { continue; }
      let at = (((row - half) * p.w + column - half) * 3u + channel) * 3u;
      d += bell(a) / sum * (bell(b) / sum) * vec3<f32>(slopes[at], slopes[at + 1u], slopes[at + 2u]);
    }
  }
  let v = values(pixel, channel);
  let similar = d.x + 2.0 * v.x * d.y + v.y * d.z;
  d_image[i] = ((1.0 - p.lambda) * sign(v.x - v.y) - p.lambda * similar) / f32(p.h * p.w * 3u);
}

@compute @workgroup_size(1)
fn total() {
  var l1 = 0.0;
  var similar = 0.0;
  for (var pixel = 0u; pixel < p.h * p.w; pixel++) {
    for (var channel = 0u; channel < 3u; channel++) {
      let v = values(pixel, channel);
      l1 += abs(v.x - v.y);
      similar += map[pixel * 3u + channel];
    }
  }
  let count = f32(p.h * p.w * 3u);
  loss[0] = (1.0 - p.lambda) * (l1 / count) + p.lambda * (1.0 - similar / count);
  loss[1] = l1 / count;
  loss[2] = similar / count;
}
