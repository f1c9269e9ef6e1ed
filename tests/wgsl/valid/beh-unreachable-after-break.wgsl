fn f() {
  loop {
    break;
    let a = 1;
  }
}
