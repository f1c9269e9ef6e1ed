fn f(a: bool) {
  loop {
    if a {
      break;
    }
  }
}
