// expect: wgsl/layout 6
struct I {
  a: f32
}
struct S {
  i: I, x: f32
}
@group(0) @binding(0) var<uniform> s: S;
