// expect: wgsl/type-not-allowed 3
fn f() {
  var a: array<i32>;
}
