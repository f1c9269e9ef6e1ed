// expect: wgsl/syntax 3
struct S {
  a: i32;
  b: i32;
}
