// expect: wgsl/unresolved-name 3
struct S {
  a: foo
}
