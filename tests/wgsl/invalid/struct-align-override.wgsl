// expect: wgsl/not-constant 4
override A = 16;
struct S {
  @align(A) a: f32
}
