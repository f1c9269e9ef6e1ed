// expect: wgsl/no-overload 3
fn f(a: array<i32, 2>) -> bool {
  return a == a;
}
