fn f() -> i32 {
  return 1;
  let a = 2;
}
