// expect: wgsl/reserved-word 3
fn f() {
  fn g() {}
}
