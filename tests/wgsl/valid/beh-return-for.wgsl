fn f() -> i32 {
  for (;;) {
    return 1;
  }
}
