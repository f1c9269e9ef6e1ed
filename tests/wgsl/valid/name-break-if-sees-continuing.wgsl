fn f() {
  loop {
    continuing {
      let b = true;
      break if b;
    }
  }
}
