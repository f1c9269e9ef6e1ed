// expect: wgsl/wrong-kind-of-name 4
fn g() {}
fn f() {
  g = 1;
}
