// expect: wgsl/layout 5
struct I {
  a: f32
}
@group(0) @binding(0) var<uniform> a: array<I, 3>;
