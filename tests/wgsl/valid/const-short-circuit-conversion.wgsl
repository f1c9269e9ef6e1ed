fn f(x: i32) -> bool {
  return false && (x / 0 == 4294967295);
}
