// expect: wgsl/type-not-allowed 3
struct S {
  a: array<i32>, b: i32
}
