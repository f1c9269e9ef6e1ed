fn f(a: u32) -> i32 {
  return 1i << a;
}
