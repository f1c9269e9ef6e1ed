// expect: wgsl/missing-return 6
fn f() -> i32 {
  for (var i = 0; i < 1; i++) {
    return 1;
  }
}
