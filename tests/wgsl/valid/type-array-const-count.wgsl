const N = 2 + 3;
var<private> a: array<i32, N>;
fn f() {
  a = array(1, 2, 3, 4, 5);
}
