// expect: wgsl/type-mismatch 3
fn unused() {
  let x: i32 = 1.5;
}
@compute @workgroup_size(1) fn main() {}
