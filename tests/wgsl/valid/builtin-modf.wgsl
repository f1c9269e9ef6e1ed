const r = modf(3.25);
const_assert r.fract == 0.25;
const_assert r.whole == 3;
fn f(a: f32) {
  let q = modf(a);
  let e: f32 = q.whole;
}
