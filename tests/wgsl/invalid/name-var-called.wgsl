// expect: wgsl/wrong-kind-of-name 4
var<private> v: i32;
fn f() {
  v();
}
