// expect: wgsl/type-not-allowed 6
struct S {
  b: i32, a: array<i32>
}
struct T {
  s: S
}
