// expect: wgsl/layout 3
struct S {
  @size(64) a: array<f32>
}
