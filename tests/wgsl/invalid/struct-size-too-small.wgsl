// expect: wgsl/layout 3
struct S {
  @size(2) a: f32
}
