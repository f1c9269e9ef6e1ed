fn f(a: i32) {
  loop {
    if a == 1 {
      break;
    }
    continuing {
      switch a {
        default {
          break;
        }
      }
    }
  }
}
