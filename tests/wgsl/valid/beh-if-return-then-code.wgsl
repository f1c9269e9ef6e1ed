fn f(a: bool) -> i32 {
  if a {
    return 1;
  } else {
    return 2;
  }
  let b = 1;
  return b;
}
