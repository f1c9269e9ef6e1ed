// One splat an invocation. With the camera's rotation W, the splat's rotation R and scales S, A = R S and M = J W, the covariance on the
// screen is (A^T m0, A^T m1) multiplied with itself, whose determinant is a squared cross product: nothing cancels.
struct Params { n: u32, k: u32, width: u32, height: u32, antialiased: u32 }
@group(0) @binding(0) var<storage, read> geometry: array<f32>;
@group(0) @binding(1) var<storage, read> sh: array<f32>;
@group(0) @binding(2) var<storage, read> camera: array<f32>;
@group(0) @binding(3) var<storage, read_write> splat: array<f32>;
@group(0) @binding(4) var<storage, read_write> depth: array<u32>;
@group(0) @binding(5) var<storage, read_write> rect: array<u32>;
@group(0) @binding(6) var<uniform> p: Params;

const NEAR: f32 = 0.01;
const BLUR: f32 = 0.3;
const CLAMP: f32 = 1.3;
const FAINT = 0.00392156862745098; // 1/255

fn limited(v: f32, most: f32) -> f32 { return min(max(v, -most), most); }

fn sigmoid(x: f32) -> f32 { return 1.0 / (1.0 + exp(-x)); }

// The columns of the rotation of a quaternion w x y z.
fn rotation(quaternion: vec4<f32>) -> mat3x3<f32> {
  let q = quaternion / max(length(quaternion), 1e-12);
  let w = q.x;
  let x = q.y;
  let y = q.z;
  let z = q.w;
  return mat3x3<f32>(
    vec3<f32>(1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)),
    vec3<f32>(2.0 * (x * y - w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z + w * x)),
    vec3<f32>(2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)));
}

// Real harmonic i in the direction d.
fn harmonic(i: u32, d: vec3<f32>) -> f32 {
  let x = d.x;
  let y = d.y;
  let z = d.z;
  switch i {
    case 0u: { return 0.28209479; }
    case 1u: { return -0.48860251 * y; }
    case 2u: { return 0.48860251 * z; }
    case 3u: { return -0.48860251 * x; }
    case 4u: { return 1.09254843 * x * y; }
    case 5u: { return -1.09254843 * y * z; }
    case 6u: { return 0.31539157 * (2.0 * z * z - x * x - y * y); }
    case 7u: { return -1.09254843 * x * z; }
    case 8u: { return 0.54627422 * (x * x - y * y); }
    case 9u: { return -0.59004359 * y * (3.0 * x * x - y * y); }
    case 10u: { return 2.89061144 * x * y * z; }
    case 11u: { return -0.45704580 * y * (4.0 * z * z - x * x - y * y); }
    case 12u: { return 0.37317633 * z * (2.0 * z * z - 3.0 * x * x - 3.0 * y * y); }
    case 13u: { return -0.45704580 * x * (4.0 * z * z - x * x - y * y); }
    case 14u: { return 1.44530572 * z * (x * x - y * y); }
    default: { return -0.59004359 * x * (x * x - 3.0 * y * y); }
  }
}

// How many coefficients count.
fn counted() -> u32 {
  let degree = u32(min(max(camera[16], 0.0), 3.0));
  return min(p.k, (degree + 1u) * (degree + 1u));
}

fn color(row: u32, mean: vec3<f32>, centre: vec3<f32>) -> vec3<f32> {
  let towards = mean - centre;
  let far = length(towards);
  var d = vec3<f32>(0.0, 0.0, 1.0);
  if (far > 1e-12) { d = towards / far; }
  var c = vec3<f32>(0.5);
  for (var i = 0u; i < counted(); i++) {
    let at = (row * p.k + i) * 3u;
    c += harmonic(i, d) * vec3<f32>(sh[at], sh[at + 1u], sh[at + 2u]);
  }
  return max(c, vec3<f32>(0.0));
}

// The first tile of 0 to `most` that holds a pixel's centre at or behind v, and the first one all of whose centres are behind v.
fn tile_from(v: f32, most: u32) -> u32 { return u32(min(max(ceil((v - 15.5) / 16.0), 0.0), f32(most))); }
fn tile_to(v: f32, most: u32) -> u32 { return u32(min(max(floor((v - 0.5) / 16.0) + 1.0, 0.0), f32(most))); }

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n) { return; }
  for (var j = 0u; j < 9u; j++) { splat[i * 9u + j] = 0.0; }
  for (var j = 0u; j < 4u; j++) { rect[i * 4u + j] = 0u; }
  depth[i] = 0xffffffffu;
  let g = i * 11u;
  let w0 = vec3<f32>(camera[0], camera[1], camera[2]);
  let w1 = vec3<f32>(camera[3], camera[4], camera[5]);
  let w2 = vec3<f32>(camera[6], camera[7], camera[8]);
  let t = vec3<f32>(camera[9], camera[10], camera[11]);
  let fx = camera[12];
  let fy = camera[13];
  let mean = vec3<f32>(geometry[g], geometry[g + 1u], geometry[g + 2u]);
  let z = dot(w2, mean) + t.z;
  if (!(z >= NEAR)) { return; }
  let u = (dot(w0, mean) + t.x) / z;
  let v = (dot(w1, mean) + t.y) / z;
  let x = fx * u + camera[14];
  let y = fy * v + camera[15];
  let m0 = (fx / z) * (w0 - limited(u, CLAMP * 0.5 * f32(p.width) / abs(fx)) * w2);
  let m1 = (fy / z) * (w1 - limited(v, CLAMP * 0.5 * f32(p.height) / abs(fy)) * w2);
  let scale = exp(vec3<f32>(geometry[g + 3u], geometry[g + 4u], geometry[g + 5u]));
  let r = rotation(vec4<f32>(geometry[g + 6u], geometry[g + 7u], geometry[g + 8u], geometry[g + 9u]));
  let a0 = scale * (m0 * r);
  let a1 = scale * (m1 * r);
  let across = cross(a0, a1);
  let before = dot(across, across);
  let xx = dot(a0, a0) + BLUR;
  let xy = dot(a0, a1);
  let yy = dot(a1, a1) + BLUR;
  let det = before + BLUR * (xx + yy - BLUR);
  var opacity = sigmoid(geometry[g + 10u]);
  if (p.antialiased == 1u) { opacity *= sqrt(max(2.5e-5, before / det)); }
  if (!(opacity >= FAINT && det > 0.0 && det < 1e30 && abs(x) < 1e6 && abs(y) < 1e6)) { return; }
  let reach = 2.0 * log(255.0 * opacity) + 1e-3; // a little more, so that rounding loses no tile
  let tiles = (vec2<u32>(p.width, p.height) + 15u) / 16u;
  let ex = sqrt(reach * xx);
  let ey = sqrt(reach * yy);
  let low = vec2<u32>(tile_from(x - ex, tiles.x), tile_from(y - ey, tiles.y));
  let high = vec2<u32>(tile_to(x + ex, tiles.x), tile_to(y + ey, tiles.y));
  if (low.x >= high.x || low.y >= high.y) { return; }
  let c = color(i, mean, -(w0 * t.x + w1 * t.y + w2 * t.z));
  splat[i * 9u] = x;
  splat[i * 9u + 1u] = y;
  splat[i * 9u + 2u] = yy / det;
  splat[i * 9u + 3u] = -xy / det;
  splat[i * 9u + 4u] = xx / det;
  splat[i * 9u + 5u] = opacity;
  splat[i * 9u + 6u] = c.x;
  splat[i * 9u + 7u] = c.y;
  splat[i * 9u + 8u] = c.z;
  depth[i] = bitcast<u32>(z);
  rect[i * 4u] = low.x;
  rect[i * 4u + 1u] = low.y;
  rect[i * 4u + 2u] = high.x;
  rect[i * 4u + 3u] = high.y;
}
