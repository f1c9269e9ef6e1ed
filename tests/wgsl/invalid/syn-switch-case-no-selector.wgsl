// expect: wgsl/syntax 4
fn f(a: i32) {
  switch a {
    case {}
    default {}
  }
}
