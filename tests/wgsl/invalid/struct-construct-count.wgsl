// expect: wgsl/argument-count 6
struct S {
  a: i32, b: i32
}
fn f() {
  let s = S(1);
}
