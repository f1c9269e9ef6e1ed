// expect: wgsl/unsupported 2
fn f() -> @location(0) f32 {
  return 1;
}
