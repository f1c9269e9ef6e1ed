// expect: wgsl/aliased-pointers 10
struct S {
  a: i32, b: i32
}
fn g(p: ptr<function, S>, q: ptr<function, i32>) {
  p.a = *q;
}
fn f() {
  var s: S;
  g(&s, &s.b);
}
