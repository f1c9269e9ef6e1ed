// expect: wgsl/template 2
const a = 1 << 2; const b = 8 >> 1; fn f() { let v = vec2<vec2<i32>>(); }
