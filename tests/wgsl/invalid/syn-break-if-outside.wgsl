// expect: wgsl/syntax 4
fn f() {
  loop {
    break if true;
  }
}
