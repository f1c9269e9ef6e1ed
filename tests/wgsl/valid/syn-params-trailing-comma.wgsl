fn f(a: i32, b: i32,) {}
fn g() {
  f(1, 2,);
}
