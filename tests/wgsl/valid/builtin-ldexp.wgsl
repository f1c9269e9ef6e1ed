const_assert ldexp(1.5, 2) == 6;
const_assert ldexp(1.5f, 2i) == 6;
fn f(a: f32, b: i32) {
  let x = ldexp(a, b);
  let y = ldexp(1.5, b);
  let z = ldexp(a, 2);
}
