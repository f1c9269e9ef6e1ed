// expect: wgsl/not-constant 3
fn f(n: i32) {
  var a: array<i32, n>;
}
