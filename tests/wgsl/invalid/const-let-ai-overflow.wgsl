// expect: wgsl/const-error 3
fn f() {
  let a = 2147483648;
}
