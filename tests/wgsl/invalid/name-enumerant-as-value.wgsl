// expect: wgsl/wrong-kind-of-name 3
fn f() {
  let a = read;
}
