// expect: wgsl/not-constant 4
fn f(a: i32, b: i32) {
  switch a {
    case b {}
    default {}
  }
}
