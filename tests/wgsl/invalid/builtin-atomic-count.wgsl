// expect: wgsl/argument-count 4
var<workgroup> a: atomic<u32>;
fn f() {
  atomicAdd(&a);
}
