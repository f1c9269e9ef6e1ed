// expect: wgsl/syntax 3
fn f() {
  switch 1 default {}
}
