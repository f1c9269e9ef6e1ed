fn f(a: bool) {
  loop {
    let b = 1;
    if a {
      continue;
    }
    if b == 1 {
      break;
    }
    continuing {
      let c = b;
    }
  }
}
