// expect: wgsl/bad-token 3
fn f() {
  let a = 'c';
}
