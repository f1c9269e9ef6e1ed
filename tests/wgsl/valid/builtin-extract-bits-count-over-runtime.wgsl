fn f(a: u32, o: u32) -> u32 {
  return extractBits(a, o, 33u);
}
