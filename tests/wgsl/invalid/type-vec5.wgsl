// expect: wgsl/unresolved-name 2
var<private> a: vec5<f32>;
