fn f(a: i32) -> i32 {
  if a == 1 {
    return 1;
  } else if a == 2 {
    return 2;
  } else {
    return 3;
  }
}
