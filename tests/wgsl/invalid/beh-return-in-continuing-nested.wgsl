// expect: wgsl/control-flow 8
fn f(a: bool) {
  loop {
    break;
    continuing {
      loop {
        if a {
          return;
        }
        break;
      }
    }
  }
}
