// expect: wgsl/no-overload 3
fn f(a: i32) -> bool {
  return !a;
}
