// expect: wgsl/reserved-word 3
fn f() {
  let a = _;
}
