// expect: wgsl/control-flow 5
fn f() {
  loop {
    continuing {
      break;
    }
  }
}
