// expect: wgsl/must-use 4
@group(0) @binding(0) var<storage> b: array<i32>;
fn f() {
  arrayLength(&b);
}
