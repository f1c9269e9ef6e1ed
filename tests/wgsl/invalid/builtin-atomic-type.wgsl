// expect: wgsl/type-mismatch 4
var<workgroup> a: atomic<u32>;
fn f() {
  atomicAdd(&a, 1i);
}
