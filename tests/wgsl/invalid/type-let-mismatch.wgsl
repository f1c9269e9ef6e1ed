// expect: wgsl/type-mismatch 3
fn f() {
  let a: i32 = 1.5;
}
