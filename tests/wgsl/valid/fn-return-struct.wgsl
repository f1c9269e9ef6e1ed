struct S {
  a: i32
}
fn f() -> S {
  return S(1);
}
