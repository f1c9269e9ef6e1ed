// expect: wgsl/syntax 3
fn f() {
  1 + 2;
}
