struct S {
  m: mat3x3f, n: mat2x2f
}
@group(0) @binding(0) var<uniform> s: S;
