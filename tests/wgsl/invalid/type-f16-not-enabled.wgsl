// expect: wgsl/not-enabled 3
fn f() {
  let a: f16 = 1;
}
