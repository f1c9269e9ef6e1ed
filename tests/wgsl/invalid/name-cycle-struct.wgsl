// expect: wgsl/cycle 2
struct A {
  b: B
}
struct B {
  a: A
}
