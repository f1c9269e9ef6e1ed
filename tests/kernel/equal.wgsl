// equal@1 as a pointwise kernel, generated from its map body.
// Graph nodes: y

struct Shape {
    items: u32,
}

@group(0) @binding(0) var<storage, read> in_a: array<f32>;
@group(0) @binding(1) var<storage, read> in_b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out_y: array<u32>;
@group(0) @binding(3) var<uniform> shape: Shape;

fn map_body(a: f32, b: f32) -> bool {
    return a == b;
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * 256u + lane;
    if (i >= shape.items) {
        return;
    }
    let a_i = in_a[i];
    let b_i = in_b[i];
    out_y[i] = select(0u, 1u, map_body(a_i, b_i));
}
