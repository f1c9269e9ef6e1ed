// expect: wgsl/control-flow 5
fn f(a: bool) {
  loop {
    if a {
      continue;
    }
    var b = 1;
    if a {
      break;
    }
    continuing {
      b = 2;
    }
  }
}
