// expect: wgsl/not-constant 3
fn f(a: i32) {
  const_assert a == 1;
}
