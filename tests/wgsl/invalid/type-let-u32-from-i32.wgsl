// expect: wgsl/type-mismatch 3
fn f(x: i32) {
  let a: u32 = x;
}
