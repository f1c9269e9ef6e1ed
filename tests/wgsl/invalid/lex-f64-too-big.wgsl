// expect: wgsl/literal-range 2
const a = 1e309;
