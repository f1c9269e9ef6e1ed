// expect: wgsl/initializer 3
fn f() {
  var a;
}
