// expect: wgsl/layout 3
struct S {
  @size(0) a: f32
}
