// expect: wgsl/redeclared 3
struct S {
  a: i32, a: f32
}
