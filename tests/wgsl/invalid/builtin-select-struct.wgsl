// expect: wgsl/no-overload 6
struct S {
  a: i32
}
fn f(c: bool) {
  let a = select(S(1), S(2), c);
}
