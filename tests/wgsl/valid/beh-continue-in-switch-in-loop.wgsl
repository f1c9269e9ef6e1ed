fn f(a: i32) {
  loop {
    switch a {
      case 1 {
        continue;
      }
      default {
        break;
      }
    }
    break;
  }
}
