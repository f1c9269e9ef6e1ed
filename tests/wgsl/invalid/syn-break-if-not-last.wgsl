// expect: wgsl/syntax 6
fn f() {
  loop {
    continuing {
      break if true;
      let a = 1;
    }
  }
}
