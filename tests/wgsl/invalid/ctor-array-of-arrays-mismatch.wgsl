// expect: wgsl/no-overload 2
const a = array(array(1, 2), array(3));
