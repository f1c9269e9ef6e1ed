// expect: wgsl/aliased-pointers 10
fn h(a: ptr<function, i32>, b: ptr<function, i32>) {
  *a = *b;
}
fn g(a: ptr<function, i32>, b: ptr<function, i32>) {
  h(a, b);
}
fn f() {
  var x = 1;
  g(&x, &x);
}
