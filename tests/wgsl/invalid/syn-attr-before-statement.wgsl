// expect: wgsl/syntax 3
fn f() {
  @diagnostic(off, derivative_uniformity) let a = 1;
}
