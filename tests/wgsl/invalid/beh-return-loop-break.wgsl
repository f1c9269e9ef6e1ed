// expect: wgsl/missing-return 9
fn f(a: bool) -> i32 {
  loop {
    if a {
      break;
    }
    return 1;
  }
}
