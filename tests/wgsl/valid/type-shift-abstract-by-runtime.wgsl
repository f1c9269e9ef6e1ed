fn f(b: u32) -> i32 {
  return 1 << b;
}
