// expect: wgsl/type-not-allowed 4
override N = 4;
fn f() {
  var a: array<i32, N>;
}
