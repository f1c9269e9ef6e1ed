// expect: wgsl/control-flow 5
fn f(a: bool) {
  loop {
    if a {
      continue;
    }
    const b = 1;
    if a {
      break;
    }
    continuing {
      let c = b;
    }
  }
}
