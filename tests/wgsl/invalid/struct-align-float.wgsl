// expect: wgsl/attribute 3
struct S {
  @align(16.0) a: f32
}
