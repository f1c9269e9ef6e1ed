// expect: wgsl/aliased-pointers 8
fn g(a: ptr<function, i32>, b: ptr<function, i32>) {
  *a = *b;
}
fn f() {
  var x = 1;
  let p = &x;
  g(p, &x);
}
