// The square of exp(|x| / 2), which overflows no sooner than the result.
fn cosh_f32(x: f32) -> f32 {
  let e = exp(0.5 * abs(x));
  return 0.5 * e * e + 0.5 / (e * e);
}
