struct I {
  a: f32
}
struct S {
  x: f32, @align(16) i: I
}
@group(0) @binding(0) var<uniform> s: S;
