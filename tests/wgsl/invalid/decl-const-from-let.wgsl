// expect: wgsl/not-constant 4
fn f() {
  let a = 1;
  const b = a;
}
