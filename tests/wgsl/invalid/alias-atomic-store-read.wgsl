// expect: wgsl/aliased-pointers 8
var<workgroup> x: atomic<i32>;
fn g(a: ptr<workgroup, atomic<i32>>) -> i32 {
  atomicStore(&x, 1);
  return atomicLoad(a);
}
fn f() {
  let y = g(&x);
}
