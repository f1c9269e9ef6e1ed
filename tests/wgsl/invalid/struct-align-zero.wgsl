// expect: wgsl/layout 3
struct S {
  @align(0) a: f32
}
