// expect: wgsl/type-not-allowed 6
struct S {
  a: atomic<i32>
}
fn f() {
  let s = S();
}
