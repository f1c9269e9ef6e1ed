// expect: wgsl/not-assignable 3
fn f(a: i32) {
  a = 2;
}
