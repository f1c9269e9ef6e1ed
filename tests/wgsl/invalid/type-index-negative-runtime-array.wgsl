// expect: wgsl/index-out-of-range 4
@group(0) @binding(0) var<storage> b: array<i32>;
fn f() -> i32 {
  return b[-1];
}
