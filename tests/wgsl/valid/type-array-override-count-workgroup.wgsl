override N = 4;
var<workgroup> a: array<i32, N>;
fn f() {
  a[0] = 1;
}
