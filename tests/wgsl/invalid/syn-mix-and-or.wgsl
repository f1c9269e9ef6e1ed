// expect: wgsl/syntax 3
fn f(a: bool, b: bool, c: bool) -> bool {
  return a && b || c;
}
