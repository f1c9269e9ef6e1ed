// expect: wgsl/control-flow 5
fn f(a: bool) {
  loop {
    if a {
      continue;
    }
    let b = true;
    continuing {
      break if b;
    }
  }
}
