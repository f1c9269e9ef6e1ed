struct Node { value: f32, next: array<u32, 2> }
struct List { nodes: array<Node, 8>, used: u32 }

fn push(list: ptr<function, List>, value: f32) -> bool {
  if list.used >= 8u {
    return false;
  }
  let node = &list.nodes[list.used];
  node.value = value;
  (*node).next[0] = (*list).used + 1u;
  node.next[1] = 0u;
  list.used++;
  return true;
}

fn total(list: ptr<function, List>) -> f32 {
  var sum: f32;
  for (var i: u32; i < list.used; i += 1u) {
    sum += list.nodes[i].value;
  }
  return sum;
}

@group(0) @binding(0) var<storage, read_write> result: array<f32>;
@compute @workgroup_size(1)
fn main() {
  var list: List;
  for (var i = 0; i < 10; i++) {
    if !push(&list, f32(i)) {
      break;
    }
  }
  result[0] = total(&list);
}
