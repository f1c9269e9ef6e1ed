// expect: wgsl/syntax 3
fn f() {
  let a: i32;
}
