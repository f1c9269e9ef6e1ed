struct S {
  a: i32, b: array<vec2f, 2>
}
fn f() {
  var s: S;
  s.a = 1;
  s.b[1].y = 2;
  s = S();
}
