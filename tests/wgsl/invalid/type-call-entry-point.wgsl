// expect: wgsl/entry-point 4
@compute @workgroup_size(1) fn main() {}
fn f() {
  main();
}
