enable f16;
struct S {
  a: f16, b: vec3h, c: mat2x3h
}
@group(0) @binding(0) var<uniform> s: S;
