// expect: wgsl/layout 3
struct S {
  @align(8) a: vec3f
}
@group(0) @binding(0) var<storage> s: S;
