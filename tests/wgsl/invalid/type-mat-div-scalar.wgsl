// expect: wgsl/no-overload 3
fn f(a: mat2x2f) -> mat2x2f {
  return a / 2.0;
}
