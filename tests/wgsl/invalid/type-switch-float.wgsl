// expect: wgsl/switch 3
fn f() {
  switch 1.0 {
    default {}
  }
}
