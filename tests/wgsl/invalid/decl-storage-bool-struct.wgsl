// expect: wgsl/type-not-allowed 5
struct S {
  a: bool
}
@group(0) @binding(0) var<storage> a: S;
