fn f() {
  loop {
    let a = 1;
    if a > 0 {
      break;
    }
    continuing {
      let b = a;
    }
  }
}
