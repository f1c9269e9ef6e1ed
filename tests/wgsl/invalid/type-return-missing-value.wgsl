// expect: wgsl/type-mismatch 3
fn f() -> i32 {
  return;
}
