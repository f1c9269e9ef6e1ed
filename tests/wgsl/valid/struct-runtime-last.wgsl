struct S {
  b: i32, a: array<i32>
}
@group(0) @binding(0) var<storage> s: S;
fn f() -> u32 {
  return arrayLength(&s.a);
}
