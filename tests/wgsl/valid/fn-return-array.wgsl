fn f() -> array<i32, 2> {
  return array(1, 2);
}
