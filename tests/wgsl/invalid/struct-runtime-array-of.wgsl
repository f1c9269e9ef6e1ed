// expect: wgsl/type-not-allowed 5
struct S {
  b: i32, a: array<i32>
}
@group(0) @binding(0) var<storage> s: array<S, 2>;
