// expect: wgsl/const-error 2
const a = bitcast<i32>(4294967295);
