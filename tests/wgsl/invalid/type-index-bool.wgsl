// expect: wgsl/type-mismatch 3
fn f(a: array<i32, 3>) -> i32 {
  return a[true];
}
