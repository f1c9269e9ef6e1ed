fn f(a: i32) -> i32 {
  switch a {
    case 1 {
      return 1;
    }
    default {
      return 2;
    }
  }
}
