// expect: wgsl/reserved-word 3
fn f() {
  override a = 1;
}
