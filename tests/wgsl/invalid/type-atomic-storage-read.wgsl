// expect: wgsl/access 2
@group(0) @binding(0) var<storage, read> a: atomic<u32>;
