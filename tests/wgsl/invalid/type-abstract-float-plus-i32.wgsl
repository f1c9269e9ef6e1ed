// expect: wgsl/no-overload 3
fn f(a: i32) -> i32 {
  return a + 1.0;
}
