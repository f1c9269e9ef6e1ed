// expect: wgsl/layout 5
struct S {
  a: array<vec2f, 4>
}
@group(0) @binding(0) var<uniform> s: S;
