// expect: wgsl/not-enabled 3
fn f() {
  let a = 1h;
}
