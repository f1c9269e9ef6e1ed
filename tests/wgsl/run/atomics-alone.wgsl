// run: grid=1 fill=special
@group(0) @binding(0) var<storage, read_write> x: array<atomic<u32>, 16>;
@group(0) @binding(1) var<storage, read_write> y: array<atomic<i32>, 16>;
@group(0) @binding(2) var<storage, read_write> o: array<u32, 64>;
@compute @workgroup_size(1) fn main() {
  o[0] = atomicAdd(&x[0], 4294967295u);
  o[1] = atomicSub(&x[1], 5u);
  o[2] = atomicMax(&x[11], 5u);
  o[3] = atomicMin(&x[12], 5u);
  o[4] = atomicAnd(&x[14], 0xff00u);
  o[5] = atomicOr(&x[14], 0xf0u);
  o[6] = atomicXor(&x[15], 0xffffffffu);
  o[7] = atomicExchange(&x[2], 9u);
  o[8] = u32(atomicMax(&y[12], -3));
  o[9] = u32(atomicMin(&y[11], -3));
  o[10] = u32(atomicSub(&y[11], 2147483647));
  let hit = atomicCompareExchangeWeak(&x[3], 5u, 6u);
  o[11] = hit.old_value + u32(hit.exchanged);
  let r = atomicCompareExchangeWeak(&y[4], 1, -6);
  o[12] = u32(r.old_value) + u32(r.exchanged);
  o[13] = atomicLoad(&x[5]) + u32(atomicLoad(&y[5]));
}
