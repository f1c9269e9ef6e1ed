// expect: wgsl/template 2
var<private> a: f32<i32>;
