// expect: wgsl/type-not-allowed 4
@group(0) @binding(0) var<storage> a: array<i32>;
fn f() {
  _ = a;
}
