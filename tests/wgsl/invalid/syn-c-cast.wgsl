// expect: wgsl/syntax 3
fn f(a: f32) -> i32 {
  return (i32)a;
}
