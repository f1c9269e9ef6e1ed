// expect: wgsl/index-out-of-range 3
const a = array(1, 2);
const b = a[2];
