// expect: wgsl/type-not-allowed 5
struct S {
  a: i32
}
override o: S;
