// expect: wgsl/type-not-allowed 2
var<private> a: atomic<u32>;
