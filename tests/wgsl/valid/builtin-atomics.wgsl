var<workgroup> a: atomic<i32>;
fn f() {
  atomicStore(&a, 1);
  let x: i32 = atomicLoad(&a);
  atomicAdd(&a, -1);
  atomicSub(&a, 1);
  atomicMax(&a, 1);
  atomicMin(&a, 1);
  atomicAnd(&a, 1);
  atomicOr(&a, 1);
  atomicXor(&a, 1);
  let o = atomicExchange(&a, 3);
  let r = atomicCompareExchangeWeak(&a, 1, 2);
  if r.exchanged {
    atomicStore(&a, r.old_value);
  }
}
