// expect: wgsl/no-member 6
struct S {
  a: i32
}
fn f(s: S) -> i32 {
  return s.b;
}
