// expect: wgsl/missing-return 6
fn f() -> i32 {
  while true {
    return 1;
  }
}
