// expect: wgsl/no-overload 6
struct S {
  a: i32
}
fn f(a: S) -> bool {
  return a == a;
}
