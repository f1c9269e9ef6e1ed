// expect: wgsl/no-overload 5
struct S {
  a: i32
}
const a = i32(S());
