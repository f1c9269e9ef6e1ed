// expect: wgsl/template 4
fn g() {}
fn f() {
  g<i32>();
}
