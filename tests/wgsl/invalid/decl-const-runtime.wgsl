// expect: wgsl/not-constant 3
fn f(a: i32) {
  const b = a;
}
