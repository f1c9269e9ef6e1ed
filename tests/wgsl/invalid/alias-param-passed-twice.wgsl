// expect: wgsl/aliased-pointers 6
fn h(a: ptr<function, i32>, b: ptr<function, i32>) {
  *a = *b;
}
fn g(a: ptr<function, i32>) {
  h(a, a);
}
fn f() {
  var x = 1;
  g(&x);
}
