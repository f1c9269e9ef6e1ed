// expect: wgsl/type-mismatch 4
fn f() {
  var a = vec2i();
  a++;
}
