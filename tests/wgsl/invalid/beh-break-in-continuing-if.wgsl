// expect: wgsl/control-flow 6
fn f(a: bool) {
  loop {
    continuing {
      if a {
        break;
      }
    }
  }
}
