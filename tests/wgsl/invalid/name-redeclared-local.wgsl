// expect: wgsl/redeclared 4
fn f() {
  let a = 1;
  let a = 2;
}
