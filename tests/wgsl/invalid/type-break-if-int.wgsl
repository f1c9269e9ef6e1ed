// expect: wgsl/type-mismatch 5
fn f() {
  loop {
    continuing {
      break if 1;
    }
  }
}
