const N = 2u;
var<private> a: array<i32, N>;
fn f() {
  a = array<i32, 2>();
}
