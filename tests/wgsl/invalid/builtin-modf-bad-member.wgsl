// expect: wgsl/no-member 4
fn f(a: f32) {
  let q = modf(a);
  let e = q.exp;
}
