// expect: wgsl/template 3
fn f() {
  let a = max<i32>(1, 2);
}
