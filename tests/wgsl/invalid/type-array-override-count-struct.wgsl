// expect: wgsl/type-not-allowed 4
override N = 4;
struct S {
  a: array<i32, N>
}
var<workgroup> a: S;
