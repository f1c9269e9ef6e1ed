const a = 1;
fn f() {
  let a = a + 1;
}
