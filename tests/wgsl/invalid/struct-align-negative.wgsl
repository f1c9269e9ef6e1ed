// expect: wgsl/layout 3
struct S {
  @align(-4) a: f32
}
