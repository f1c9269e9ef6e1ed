// expect: wgsl/cycle 2
fn a() {
  a();
}
