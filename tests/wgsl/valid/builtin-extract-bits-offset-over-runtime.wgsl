fn f(a: u32, n: u32) -> u32 {
  return extractBits(a, 33u, n);
}
