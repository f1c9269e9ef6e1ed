// expect: wgsl/type-not-allowed 5
struct S {
  b: i32, a: array<i32>
}
fn f(s: S) {}
