// expect: wgsl/no-overload 4
@group(0) @binding(0) var<storage> b: array<i32, 4>;
fn f() {
  let n = arrayLength(&b);
}
