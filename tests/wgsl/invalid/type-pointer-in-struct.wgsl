// expect: wgsl/type-not-allowed 3
struct S {
  p: ptr<function, i32>
}
