// One splat an invocation: the forward once more, then its derivatives backwards. Names are those of splat_project; g_NAME is the gradient by NAME.
struct Params { n: u32, k: u32, width: u32, height: u32, antialiased: u32, by_camera: u32 }
@group(0) @binding(0) var<storage, read> geometry: array<f32>;
@group(0) @binding(1) var<storage, read> sh: array<f32>;
@group(0) @binding(2) var<storage, read> camera: array<f32>;
@group(0) @binding(3) var<storage, read> d_splat: array<f32>;
@group(0) @binding(4) var<storage, read_write> d_geometry: array<f32>;
@group(0) @binding(5) var<storage, read_write> d_sh: array<f32>;
@group(0) @binding(6) var<storage, read_write> d_camera: array<f32>; // a row a splat
@group(0) @binding(7) var<uniform> p: Params;

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

// The first tile of 0 to `most` that holds a pixel's centre at or behind v, and the first one all of whose centres are behind v.
fn tile_from(v: f32, most: u32) -> u32 { return u32(min(max(ceil((v - 15.5) / 16.0), 0.0), f32(most))); }
fn tile_to(v: f32, most: u32) -> u32 { return u32(min(max(floor((v - 0.5) / 16.0) + 1.0, 0.0), f32(most))); }

// The gradient of harmonic i by its direction.
fn harmonic_gradient(i: u32, d: vec3<f32>) -> vec3<f32> {
  let x = d.x;
  let y = d.y;
  let z = d.z;
  switch i {
    case 0u: { return vec3<f32>(0.0); }
    case 1u: { return vec3<f32>(0.0, -0.48860251, 0.0); }
    case 2u: { return vec3<f32>(0.0, 0.0, 0.48860251); }
    case 3u: { return vec3<f32>(-0.48860251, 0.0, 0.0); }
    case 4u: { return 1.09254843 * vec3<f32>(y, x, 0.0); }
    case 5u: { return -1.09254843 * vec3<f32>(0.0, z, y); }
    case 6u: { return 0.31539157 * vec3<f32>(-2.0 * x, -2.0 * y, 4.0 * z); }
    case 7u: { return -1.09254843 * vec3<f32>(z, 0.0, x); }
    case 8u: { return 0.54627422 * vec3<f32>(2.0 * x, -2.0 * y, 0.0); }
    case 9u: { return -0.59004359 * vec3<f32>(6.0 * x * y, 3.0 * (x * x - y * y), 0.0); }
    case 10u: { return 2.89061144 * vec3<f32>(y * z, x * z, x * y); }
    case 11u: { return -0.45704580 * vec3<f32>(-2.0 * x * y, 4.0 * z * z - x * x - 3.0 * y * y, 8.0 * y * z); }
    case 12u: { return 0.37317633 * vec3<f32>(-6.0 * x * z, -6.0 * y * z, 6.0 * z * z - 3.0 * x * x - 3.0 * y * y); }
    case 13u: { return -0.45704580 * vec3<f32>(4.0 * z * z - 3.0 * x * x - y * y, -2.0 * x * y, 8.0 * x * z); }
    case 14u: { return 1.44530572 * vec3<f32>(2.0 * x * z, -2.0 * y * z, x * x - y * y); }
    default: { return -0.59004359 * vec3<f32>(3.0 * (x * x - y * y), -6.0 * x * y, 0.0); }
  }
}

fn coefficient(row: u32, i: u32) -> vec3<f32> {
  let at = (row * p.k + i) * 3u;
  return vec3<f32>(sh[at], sh[at + 1u], sh[at + 2u]);
}

// Writes the gradient of the coefficients; gives that of the mean.
fn color_backward(row: u32, mean: vec3<f32>, centre: vec3<f32>, given: vec3<f32>) -> vec3<f32> {
  let towards = mean - centre;
  let far = length(towards);
  var d = vec3<f32>(0.0, 0.0, 1.0);
  if (far > 1e-12) { d = towards / far; }
  var c = vec3<f32>(0.5);
  for (var i = 0u; i < counted(); i++) { c += harmonic(i, d) * coefficient(row, i); }
  let g = select(given, vec3<f32>(0.0), c < vec3<f32>(0.0));
  var g_d = vec3<f32>(0.0);
  for (var i = 0u; i < counted(); i++) {
    let at = (row * p.k + i) * 3u;
    let h = harmonic(i, d);
    d_sh[at] = h * g.x;
    d_sh[at + 1u] = h * g.y;
    d_sh[at + 2u] = h * g.z;
    g_d += harmonic_gradient(i, d) * dot(coefficient(row, i), g);
  }
  if (!(far > 1e-12)) { return vec3<f32>(0.0); }
  return (g_d - d * dot(d, g_d)) / far;
}

// The gradient by a quaternion of any length, from that by the columns of its rotation.
fn rotation_backward(quaternion: vec4<f32>, g: mat3x3<f32>) -> vec4<f32> {
  let size = max(length(quaternion), 1e-12);
  let q = quaternion / size;
  let w = q.x;
  let x = q.y;
  let y = q.z;
  let z = q.w;
  // g[column][row]
  let g_q = 2.0 * vec4<f32>(
    z * (g[0].y - g[1].x) + y * (g[2].x - g[0].z) + x * (g[1].z - g[2].y),
    y * (g[1].x + g[0].y) + z * (g[2].x + g[0].z) + w * (g[1].z - g[2].y) - 2.0 * x * (g[1].y + g[2].z),
    x * (g[1].x + g[0].y) + z * (g[2].y + g[1].z) + w * (g[2].x - g[0].z) - 2.0 * y * (g[0].x + g[2].z),
    x * (g[2].x + g[0].z) + y * (g[2].y + g[1].z) + w * (g[0].y - g[1].x) - 2.0 * z * (g[0].x + g[1].y));
  return (g_q - q * dot(q, g_q)) / size;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.n) { return; }
  for (var j = 0u; j < 11u; j++) { d_geometry[i * 11u + j] = 0.0; }
  for (var j = 0u; j < p.k * 3u; j++) { d_sh[i * p.k * 3u + j] = 0.0; }
  if (p.by_camera == 1u) {
    for (var j = 0u; j < 17u; j++) { d_camera[i * 17u + j] = 0.0; }
  }
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
  let most_u = CLAMP * 0.5 * f32(p.width) / abs(fx);
  let most_v = CLAMP * 0.5 * f32(p.height) / abs(fy);
  let lu = limited(u, most_u);
  let lv = limited(v, most_v);
  let m0 = (fx / z) * (w0 - lu * w2);
  let m1 = (fy / z) * (w1 - lv * w2);
  let scale = exp(vec3<f32>(geometry[g + 3u], geometry[g + 4u], geometry[g + 5u]));
  let quaternion = vec4<f32>(geometry[g + 6u], geometry[g + 7u], geometry[g + 8u], geometry[g + 9u]);
  let r = rotation(quaternion);
  let a0 = scale * (m0 * r);
  let a1 = scale * (m1 * r);
  let across = cross(a0, a1);
  let before = dot(across, across);
  let xx = dot(a0, a0) + BLUR;
  let xy = dot(a0, a1);
  let yy = dot(a1, a1) + BLUR;
  let det = before + BLUR * (xx + yy - BLUR);
  let plain = sigmoid(geometry[g + 10u]);
  var factor = 1.0;
  if (p.antialiased == 1u) { factor = sqrt(max(2.5e-5, before / det)); }
  let opacity = plain * factor;
  if (!(opacity >= FAINT && det > 0.0 && det < 1e30 && abs(x) < 1e6 && abs(y) < 1e6)) { return; }
  let reach = 2.0 * log(255.0 * opacity) + 1e-3;
  let tiles = (vec2<u32>(p.width, p.height) + 15u) / 16u;
  let ex = sqrt(reach * xx);
  let ey = sqrt(reach * yy);
  let low = vec2<u32>(tile_from(x - ex, tiles.x), tile_from(y - ey, tiles.y));
  let high = vec2<u32>(tile_to(x + ex, tiles.x), tile_to(y + ey, tiles.y));
  if (low.x >= high.x || low.y >= high.y) { return; }

  let s = i * 9u;
  // The inverse covariance a, b, c has the determinant in it, and that the cross product.
  let a = yy / det;
  let b = -xy / det;
  let c = xx / det;
  let ga = d_splat[s + 2u];
  let gb = d_splat[s + 3u];
  let gc = d_splat[s + 4u];
  let g_opacity = d_splat[s + 5u];
  let ratio = before / det;
  var g_ratio = 0.0;
  if (p.antialiased == 1u && ratio > 2.5e-5) { g_ratio = g_opacity * plain * 0.5 / factor; }
  let g_det = -(ga * a + gb * b + gc * c + g_ratio * ratio) / det;
  let g_across = 2.0 * (g_det + g_ratio / det) * across;
  let g_xx = gc / det + BLUR * g_det;
  let g_xy = -gb / det;
  let g_yy = ga / det + BLUR * g_det;
  let g_a0 = 2.0 * g_xx * a0 + g_xy * a1 + cross(a1, g_across);
  let g_a1 = 2.0 * g_yy * a1 + g_xy * a0 + cross(g_across, a0);
  // a0 = scale * (m0 R)
  let g_m0 = r * (scale * g_a0);
  let g_m1 = r * (scale * g_a1);
  let g_scale = g_a0 * a0 + g_a1 * a1; // by its logarithm
  let e0 = scale * g_a0;
  let e1 = scale * g_a1;
  let g_r = mat3x3<f32>(m0 * e0.x + m1 * e1.x, m0 * e0.y + m1 * e1.y, m0 * e0.z + m1 * e1.z);
  let g_q = rotation_backward(quaternion, g_r);
  // m0 = (fx / z) (w0 - lu w2)
  var g_u = fx * d_splat[s];
  var g_v = fy * d_splat[s + 1u];
  if (abs(u) < most_u) { g_u -= (fx / z) * dot(g_m0, w2); }
  if (abs(v) < most_v) { g_v -= (fy / z) * dot(g_m1, w2); }
  let g_z = -(dot(g_m0, m0) + dot(g_m1, m1) + g_u * u + g_v * v) / z;
  let centre = -(w0 * t.x + w1 * t.y + w2 * t.z);
  let seen = color_backward(i, mean, centre, vec3<f32>(d_splat[s + 6u], d_splat[s + 7u], d_splat[s + 8u]));
  let g_mean = (g_u / z) * w0 + (g_v / z) * w1 + g_z * w2 + seen;
  d_geometry[g] = g_mean.x;
  d_geometry[g + 1u] = g_mean.y;
  d_geometry[g + 2u] = g_mean.z;
  d_geometry[g + 3u] = g_scale.x;
  d_geometry[g + 4u] = g_scale.y;
  d_geometry[g + 5u] = g_scale.z;
  d_geometry[g + 6u] = g_q.x;
  d_geometry[g + 7u] = g_q.y;
  d_geometry[g + 8u] = g_q.z;
  d_geometry[g + 9u] = g_q.w;
  d_geometry[g + 10u] = g_opacity * factor * plain * (1.0 - plain);
  if (p.by_camera == 0u) { return; }
  let row = i * 17u;
  let g_w0 = (g_u / z) * mean + (fx / z) * g_m0 + t.x * seen;
  let g_w1 = (g_v / z) * mean + (fy / z) * g_m1 + t.y * seen;
  let g_w2 = g_z * mean - (fx / z) * lu * g_m0 - (fy / z) * lv * g_m1 + t.z * seen;
  let g_t = vec3<f32>(g_u / z + dot(w0, seen), g_v / z + dot(w1, seen), g_z + dot(w2, seen));
  d_camera[row] = g_w0.x;
  d_camera[row + 1u] = g_w0.y;
  d_camera[row + 2u] = g_w0.z;
  d_camera[row + 3u] = g_w1.x;
  d_camera[row + 4u] = g_w1.y;
  d_camera[row + 5u] = g_w1.z;
  d_camera[row + 6u] = g_w2.x;
  d_camera[row + 7u] = g_w2.y;
  d_camera[row + 8u] = g_w2.z;
  d_camera[row + 9u] = g_t.x;
  d_camera[row + 10u] = g_t.y;
  d_camera[row + 11u] = g_t.z;
  // Beyond the limit of the field of view, lu fx is constant.
  d_camera[row + 12u] = d_splat[s] * u + dot(g_m0, m0) / fx + select(dot(g_m0, w2) * lu / z, 0.0, abs(u) < most_u);
  d_camera[row + 13u] = d_splat[s + 1u] * v + dot(g_m1, m1) / fy + select(dot(g_m1, w2) * lv / z, 0.0, abs(v) < most_v);
  d_camera[row + 14u] = d_splat[s];
  d_camera[row + 15u] = d_splat[s + 1u];
}
