// expect: wgsl/type-not-allowed 3
fn f() {
  let a = ptr<function, i32>();
}
