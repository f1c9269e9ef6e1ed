// expect: wgsl/type-not-allowed 3
fn f() {
  let a = atomic<u32>(1);
}
