struct S {
  a: array<i32, 2>
}
fn f() {
  var s: S;
  let p = &s.a[1];
  *p = 2;
  let q = &s.a;
  q[0] = 3;
}
