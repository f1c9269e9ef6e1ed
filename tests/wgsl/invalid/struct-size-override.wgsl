// expect: wgsl/not-constant 4
override A = 16;
struct S {
  @size(A) a: f32
}
