// expect: wgsl/syntax 3
fn f() {
  for var i = 0;
  i < 3;
  i++ {}
}
