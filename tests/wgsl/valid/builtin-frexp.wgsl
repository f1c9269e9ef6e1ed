const r = frexp(3.0);
const_assert r.fract == 0.75;
const_assert r.exp == 2;
fn f(a: vec2f) {
  let q = frexp(a);
  let e: vec2<i32> = q.exp;
  let g: vec2f = q.fract;
}
