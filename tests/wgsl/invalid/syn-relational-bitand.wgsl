// expect: wgsl/syntax 3
fn f(a: i32, b: i32) -> bool {
  return 0 == a & b;
}
