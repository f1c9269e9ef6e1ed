// expect: wgsl/no-overload 4
var<workgroup> a: u32;
fn f() {
  atomicAdd(&a, 1u);
}
