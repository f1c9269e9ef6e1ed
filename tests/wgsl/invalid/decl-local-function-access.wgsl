// expect: wgsl/access 3
fn f() {
  var<function, read_write> a: i32;
}
