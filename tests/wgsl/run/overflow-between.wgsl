// run: grid=1 fill=positive
// What overflows on the way has no value, although the end of the way would be in range.
enable f16;
@group(0) @binding(0) var<storage, read> x: array<vec4<f32>, 16>;
@group(0) @binding(1) var<storage, read_write> o: array<f32, 64>;
@group(0) @binding(2) var<storage, read_write> p: array<f32, 512>;
@compute @workgroup_size(1) fn main() {
  for (var k = 0u; k < 16u; k++) {
    let v = x[k];
    if (k == 0u) { o[0] = f32(f16(v.x + 60000.0) + f16(v.y + 60000.0)) * 0.001; }
    if (k == 1u) { o[1] = (v.x + 1e30) * (v.y + 1e30) * 1e-30; }
    for (var j = 0u; j < 32u; j++) { p[k * 32u + j] = v[j & 3u] * f32(j); }
  }
}
