struct I {
  a: f32
}
struct S {
  x: f32, i: I, y: array<f32, 3>
}
@group(0) @binding(0) var<storage> s: S;
