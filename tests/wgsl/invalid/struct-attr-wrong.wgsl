// expect: wgsl/attribute 3
struct S {
  @group(0) a: f32
}
