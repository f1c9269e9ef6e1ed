// expect: wgsl/reserved-word 2
var<private> class: i32;
