// expect: wgsl/type-not-allowed 4
override N = 2;
fn f() {
  let a = array<i32, N>();
}
