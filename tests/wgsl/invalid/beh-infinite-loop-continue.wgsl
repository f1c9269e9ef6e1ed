// expect: wgsl/control-flow 3
fn f() {
  loop {
    continue;
  }
}
