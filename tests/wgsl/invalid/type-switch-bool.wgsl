// expect: wgsl/switch 3
fn f(a: bool) {
  switch a {
    case true {}
    default {}
  }
}
