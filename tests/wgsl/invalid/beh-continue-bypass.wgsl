// expect: wgsl/control-flow 5
fn f(a: bool) {
  loop {
    if a {
      continue;
    }
    let b = 1;
    if b == 1 {
      break;
    }
    continuing {
      let c = b;
    }
  }
}
