struct In {
  @builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) i: u32
}
@compute @workgroup_size(1) fn main(in: In) {
  let x = in.g.x;
}
