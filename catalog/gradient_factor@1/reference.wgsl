// One number: every lane but the first has nothing to do.
struct Params { has_scale: u32, max_norm: f32 }
@group(0) @binding(0) var<storage, read> square: array<f32>;
@group(0) @binding(1) var<storage, read> scale: array<f32>;
@group(0) @binding(2) var<storage, read_write> factor: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(1)
fn main() {
  var s = 1.0;
  if (p.has_scale != 0u) { s = scale[0]; }
  let q = square[0];
  let norm = sqrt(max(q, 0.0)); // times the scale
  var f = 1.0 / s;
  if (p.max_norm > 0.0 && norm > p.max_norm * s) { f = p.max_norm / norm; }
  if ((bitcast<u32>(q) & 0x7F800000u) == 0x7F800000u) { f = 0.0; } // infinite or no number
  factor[0] = f;
}
