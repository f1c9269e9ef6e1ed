// expect: wgsl/wrong-kind-of-name 4
fn g() {}
fn f() {
  let a = g;
}
