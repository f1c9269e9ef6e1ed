// sub@1 as a pointwise kernel, generated from its map body.
// Graph nodes: y

struct Shape {
    items: u32,
    dim1: u32,
    b_stride1: u32,
}

@group(0) @binding(0) var<storage, read> in_a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> in_b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> out_y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> shape: Shape;

fn map_body(a: f32, b: f32) -> f32 {
    return a - b;
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
    let a_i = in_a[i];
    let b_i = in_b[c1 * shape.b_stride1];
    out_y[i] = vec4<f32>(
        map_body(a_i.x, b_i.x),
        map_body(a_i.y, b_i.y),
        map_body(a_i.z, b_i.z),
        map_body(a_i.w, b_i.w));
}
