override o = 2;
fn f(a: i32) -> i32 {
  return a / o + (1 << u32(o));
}
