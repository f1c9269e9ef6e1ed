// expect: wgsl/index-out-of-range 3
fn f(a: array<i32, 3>) -> i32 {
  return a[3];
}
