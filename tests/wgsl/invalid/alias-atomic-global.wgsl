// expect: wgsl/aliased-pointers 7
var<workgroup> x: atomic<i32>;
fn g(a: ptr<workgroup, atomic<i32>>) {
  atomicAdd(a, atomicLoad(&x));
}
fn f() {
  g(&x);
}
