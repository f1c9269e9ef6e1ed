// expect: wgsl/cycle 2
struct A {
  a: A
}
