// expect: wgsl/layout 3
struct S {
  @align(3) a: f32
}
