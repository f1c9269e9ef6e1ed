// expect: wgsl/switch 5
fn f(a: i32) {
  switch a {
    default {}
    default {}
  }
}
