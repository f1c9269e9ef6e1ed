// expect: wgsl/control-flow 6
fn f() {
  loop {
    break;
    continuing {
      continue;
    }
  }
}
