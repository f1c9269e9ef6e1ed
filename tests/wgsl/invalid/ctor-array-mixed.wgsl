// expect: wgsl/no-overload 2
const a = array(1i, 2u);
