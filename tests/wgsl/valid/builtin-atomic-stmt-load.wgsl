var<workgroup> a: atomic<i32>;
fn f() {
  atomicLoad(&a);
  atomicExchange(&a, 1);
  atomicCompareExchangeWeak(&a, 1, 2);
}
