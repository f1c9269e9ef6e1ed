var<workgroup> a: array<atomic<u32>, 4>;
fn f() {
  atomicAdd(&a[1], 2);
}
