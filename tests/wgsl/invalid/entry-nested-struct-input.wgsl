// expect: wgsl/entry-point 8
struct A {
  @builtin(local_invocation_index) i: u32
}
struct In {
  a: A
}
@compute @workgroup_size(1) fn main(in: In) {}
