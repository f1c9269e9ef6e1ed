// expect: wgsl/no-member 3
fn f(a: array<i32, 2>) -> i32 {
  return a.x;
}
