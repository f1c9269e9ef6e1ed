// expect: wgsl/not-assignable 4
fn f() {
  let a = 1;
  a++;
}
