// expect: wgsl/attribute 2
@align(16) struct S {
  a: f32
}
