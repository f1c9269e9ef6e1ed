// expect: wgsl/syntax 5
fn f() {
  loop {
    continuing {}
    let a = 1;
    break;
  }
}
