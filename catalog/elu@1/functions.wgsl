fn elu_f32(x: f32, alpha: f32) -> f32 {
  if (x >= 0.0) { return x; }
  if (x < -0.25) { return alpha * (exp(x) - 1.0); }
  var sum = 1.0;
  for (var n = 12u; n > 1u; n--) { sum = 1.0 + x / f32(n) * sum; }
  return alpha * x * sum;
}
