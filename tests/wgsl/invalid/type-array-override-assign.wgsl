// expect: wgsl/type-not-allowed 5
override N = 4;
var<workgroup> a: array<i32, N>;
fn f() {
  let b = a;
}
