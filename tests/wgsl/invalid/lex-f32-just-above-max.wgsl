// expect: wgsl/literal-range 2
const a = 3.40282350e38f;
