struct S {
  a: i32
}
alias T = S;
fn f() {
  let t = T(1);
  let x = t.a;
}
