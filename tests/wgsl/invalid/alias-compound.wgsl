// expect: wgsl/aliased-pointers 8
var<private> x: i32;
fn g(a: ptr<private, i32>) -> i32 {
  x += 1;
  return *a;
}
fn f() {
  let y = g(&x);
}
