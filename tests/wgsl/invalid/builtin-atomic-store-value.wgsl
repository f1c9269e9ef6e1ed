// expect: wgsl/type-mismatch 4
var<workgroup> a: atomic<u32>;
fn f() {
  let x = atomicStore(&a, 1);
}
