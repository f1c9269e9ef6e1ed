// expect: wgsl/no-overload 3
fn f(a: i32) {
  let m = mat2x2(a, a, a, a);
}
