struct vec2 {
  a: i32
}
fn f() {
  let x = vec2(1);
}
