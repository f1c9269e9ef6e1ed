fn f() -> i32 {
  while false {}
  return 1;
}
