// Below a quarter the series of the binomial, from 1e9 on log(2 a) in two parts, since 2 a might overflow, in between the logarithm.
fn asinh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a < 0.25) {
    let q = x * x;
    return x * (1.0 - q * 1.0 / 6.0 * (1.0 - q * 9.0 / 20.0 * (1.0 - q * 25.0 / 42.0 * (1.0 - q * 49.0 / 72.0 * (1.0 - q * 81.0 / 110.0 * (1.0 - q * 121.0 / 156.0 * (1.0 - q * 169.0 / 210.0 * (1.0 - q * 225.0 / 272.0 * (1.0 - q * 289.0 / 342.0 * (1.0 - q * 361.0 / 420.0 * (1.0 - q * 441.0 / 506.0 * (1.0))))))))))));
  }
  if (a >= 1e9) { return sign(x) * (log(a) + log(min(a, 2.0))); }
  return sign(x) * log(a + sqrt(a * a + 1.0));
}
