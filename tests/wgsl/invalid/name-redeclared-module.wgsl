// expect: wgsl/redeclared 3
const a = 1;
const a = 2;
