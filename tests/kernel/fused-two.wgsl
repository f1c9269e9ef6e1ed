// fused/sub.elu.pow.greater@1 as one pointwise kernel, generated from the map bodies of its nodes.
// Graph nodes: shifted, bent, root, above

struct Shape {
    items: u32,
    dim1: u32,
    x1_stride0: u32,
    param_p0: f32,
    param_p1: f32,
}

@group(0) @binding(0) var<storage, read> in_x0: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> in_x1: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_y0: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out_y1: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> shape: Shape;

fn op0_sub(a: f32, b: f32) -> f32 {
    return a - b;
}

fn f1_elu_f32(x: f32, alpha: f32) -> f32 {
  if (x >= 0.0) { return x; }
  if (x < -0.25) { return alpha * (exp(x) - 1.0); }
  var sum = 1.0;
  for (var n = 12u; n > 1u; n--) { sum = 1.0 + x / f32(n) * sum; }
  return alpha * x * sum;
}

fn op1_elu(x: f32, alpha: f32) -> f32 {
    return f1_elu_f32(x, alpha);
}

// a to the power b for any sign of a: WGSL's pow is defined for a >= 0 only.
fn f2_power_f32(a: f32, b: f32) -> f32 {
  if (b == 0.0) { return 1.0; }
  let size = pow(abs(a), b);
  if ((bitcast<u32>(a) >> 31u) == 0u) { return size; }
  let bits = bitcast<u32>(a) & 0x7fffffffu; // a zero or an infinity has a size, whatever b is
  if (b != trunc(b) && (bits == 0u || bits == 0x7f800000u)) { return size; }
  if (b != trunc(b)) { return bitcast<f32>(0x7fc00000u | (bitcast<u32>(b) & 0u)); }
  let half = b * 0.5;
  return select(size, -size, half != trunc(half));
}

fn op2_pow(a: f32, b: f32) -> f32 {
    return f2_power_f32(a, b);
}

fn op3_greater(a: f32, b: f32) -> bool {
    return a > b;
}

struct Results {
    y0: f32,
    y1: bool,
}

fn fused(x0: f32, x1: f32, p0: f32, p1: f32) -> Results {
    let v0 = op0_sub(x0, x1);
    let v1 = op1_elu(v0, p1);
    let v2 = op2_pow(v1, p0);
    let v3 = op3_greater(v2, x0);
    return Results(v2, v3);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * 256u + lane;
    if (i >= shape.items) {
        return;
    }
    // Coordinates in the merged dimensions, outermost first.
    let r1 = i;
    let c1 = r1 % shape.dim1;
    let r0 = r1 / shape.dim1;
    let c0 = r0;
    let x0_i = in_x0[i];
    let x1_i = in_x1[c0 * shape.x1_stride0];
    let results0 = fused(x0_i.x, x1_i, shape.param_p0, shape.param_p1);
    let results1 = fused(x0_i.y, x1_i, shape.param_p0, shape.param_p1);
    let results2 = fused(x0_i.z, x1_i, shape.param_p0, shape.param_p1);
    let results3 = fused(x0_i.w, x1_i, shape.param_p0, shape.param_p1);
    out_y0[i] = vec4<f32>(
        results0.y0,
        results1.y0,
        results2.y0,
        results3.y0);
    out_y1[i] = vec4<u32>(
        select(0u, 1u, results0.y1),
        select(0u, 1u, results1.y1),
        select(0u, 1u, results2.y1),
        select(0u, 1u, results3.y1));
}
