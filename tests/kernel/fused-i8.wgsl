// fused/add.mul@1 as one pointwise kernel, generated from the map bodies of its nodes.
// Graph nodes: b, y

struct Shape {
    items: u32,
}

@group(0) @binding(0) var<storage, read> in_x0: array<i32>;
@group(0) @binding(1) var<storage, read_write> out_y0: array<i32>;
@group(0) @binding(2) var<uniform> shape: Shape;

fn op0_add(a: i32, b: i32) -> i32 {
    return a + b;
}

fn op1_mul(a: i32, b: i32) -> i32 {
    return a * b;
}

fn fused(x0: i32) -> i32 {
    let v0 = (op0_add(x0, x0) << 24u) >> 24u;
    let v1 = (op1_mul(v0, x0) << 24u) >> 24u;
    return v1;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * 256u + lane;
    if (i >= shape.items) {
        return;
    }
    let x0_i = in_x0[i];
    out_y0[i] = (fused(x0_i) << 24u) >> 24u;
}
