// expect: wgsl/type-not-allowed 2
var<private> a: array<ptr<private, i32>, 2>;
