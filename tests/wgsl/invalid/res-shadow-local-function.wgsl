// expect: wgsl/wrong-kind-of-name 4
fn f() {
  let max = 1;
  let y = max(1, 2);
}
