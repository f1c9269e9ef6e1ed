// expect: wgsl/template 2
var<private> a: vec2<vec2f>;
