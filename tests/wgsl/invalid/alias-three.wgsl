// expect: wgsl/aliased-pointers 8
fn g(a: ptr<function, i32>, b: ptr<function, i32>, c: ptr<function, i32>) {
  *c = *a;
}
fn f() {
  var x = 1;
  var y = 1;
  g(&x, &y, &x);
}
