const_assert quantizeToF16(1.0001) == 1.0;
fn f(a: vec3f) {
  let b = quantizeToF16(a);
}
