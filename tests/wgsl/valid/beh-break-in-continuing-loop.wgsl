fn f(a: i32) {
  loop {
    if a == 1 {
      break;
    }
    continuing {
      loop {
        break;
      }
    }
  }
}
