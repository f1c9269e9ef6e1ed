// where@1 as a pointwise kernel, generated from its map body.
// Graph nodes: y

struct Shape {
    items: u32,
}

@group(0) @binding(0) var<storage, read> in_condition: array<u32>;
@group(0) @binding(1) var<storage, read> in_true_value: array<u32>;
@group(0) @binding(2) var<storage, read> in_false_value: array<u32>;
@group(0) @binding(3) var<storage, read_write> out_y: array<u32>;
@group(0) @binding(4) var<uniform> shape: Shape;

fn map_body(condition: bool, true_value: u32, false_value: u32) -> u32 {
    return select(false_value, true_value, condition);
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
    let i = (group.y * groups.x + group.x) * 256u + lane;
    if (i >= shape.items) {
        return;
    }
    let condition_i = in_condition[i];
    let true_value_i = in_true_value[i];
    let false_value_i = in_false_value[i];
    out_y[i] = (map_body(condition_i != 0u, true_value_i, false_value_i) & 0xffu);
}
