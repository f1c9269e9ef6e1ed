// Below 1 a series, above the two exponentials: the square of exp(a / 2), which overflows no sooner than the result.
fn sinh_f32(x: f32) -> f32 {
  let a = abs(x);
  if (a < 1.0) {
    let q = x * x;
    return x * (1.0 + q / 6.0 * (1.0 + q / 20.0 * (1.0 + q / 42.0 * (1.0 + q / 72.0 * (1.0 + q / 110.0 * (1.0 + q / 156.0 * (1.0 + q / 210.0 * (1.0 + q / 272.0))))))));
  }
  let e = exp(0.5 * a);
  return sign(x) * (0.5 * e * e - 0.5 / (e * e));
}
