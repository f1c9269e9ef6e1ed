// expect: wgsl/aliased-pointers 7
fn g(a: ptr<function, i32>, b: ptr<function, i32>) {
  *a = *b;
}
fn f() {
  var x = array(1, 2);
  g(&x[0], &x[1]);
}
