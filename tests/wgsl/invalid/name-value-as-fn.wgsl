// expect: wgsl/wrong-kind-of-name 4
fn f() {
  let a = 1;
  a();
}
