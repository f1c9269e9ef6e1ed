// expect: wgsl/cycle 2
fn a() {
  b();
}
fn b() {
  a();
}
