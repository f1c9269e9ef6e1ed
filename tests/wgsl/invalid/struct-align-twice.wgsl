// expect: wgsl/attribute 3
struct S {
  @align(16) @align(16) a: f32
}
