// expect: wgsl/type-not-allowed 4
var<workgroup> a: atomic<i32>;
fn f() {
  atomicAdd(a, 1);
}
