var<workgroup> w: atomic<u32>;
fn g(p: ptr<workgroup, atomic<u32>>) {
  atomicAdd(p, 1);
}
fn f() {
  g(&w);
}
