// expect: wgsl/type-not-allowed 3
@group(0) @binding(0) var<storage> a: array<i32>;
fn f() -> array<i32> {
  return a;
}
