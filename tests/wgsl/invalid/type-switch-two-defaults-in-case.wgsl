// expect: wgsl/switch 5
fn f(a: i32) {
  switch a {
    case 1, default {}
    default {}
  }
}
