// expect: wgsl/entry-point 5
struct In {
  @builtin(global_invocation_id) g: vec3<u32>, i: u32
}
@compute @workgroup_size(1) fn main(in: In) {}
