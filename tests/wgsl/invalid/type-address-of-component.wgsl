// expect: wgsl/no-address 4
fn f() {
  var v = vec2f();
  let p = &v.x;
}
