// expect: wgsl/aliased-pointers 8
var<private> x: i32;
fn g(a: ptr<private, i32>) -> i32 {
  x++;
  return *a;
}
fn f() {
  let y = g(&x);
}
