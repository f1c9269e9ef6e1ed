// expect: wgsl/reserved-word 3
struct S {
  type: i32
}
