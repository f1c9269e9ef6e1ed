// expect: wgsl/type-not-allowed 4
var<workgroup> a: atomic<u32>;
fn f() {
  a = 1;
}
