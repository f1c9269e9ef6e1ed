// expect: wgsl/no-overload 3
fn f(a: bool) -> bool {
  return a ^ a;
}
