// expect: wgsl/redeclared 3
fn f(a: i32) {
  let a = 2;
}
