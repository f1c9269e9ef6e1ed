fn f(a: bool) {
  loop {
    loop {
      if a {
        continue;
      }
      break;
    }
    let b = 1;
    if a {
      break;
    }
    continuing {
      let c = b;
    }
  }
}
