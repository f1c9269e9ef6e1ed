// expect: wgsl/no-overload 3
fn f(a: mat2x2f) -> bool {
  return a == a;
}
