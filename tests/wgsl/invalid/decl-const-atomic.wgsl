// expect: wgsl/type-not-allowed 2
const c = atomic<u32>();
