// expect: wgsl/syntax 2
struct S {}
