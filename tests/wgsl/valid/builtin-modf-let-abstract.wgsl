fn f() {
  let q = modf(1.5);
  let e: f32 = q.whole;
  let r = frexp(2.5);
  let k: i32 = r.exp;
}
