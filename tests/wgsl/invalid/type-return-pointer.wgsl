// expect: wgsl/type-not-allowed 3
var<private> a: i32;
fn f() -> ptr<private, i32> {
  return &a;
}
