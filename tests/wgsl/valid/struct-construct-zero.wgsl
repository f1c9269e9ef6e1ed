struct S {
  a: i32, b: array<mat2x2f, 2>
}
const s = S();
fn f() {
  let t = S();
}
