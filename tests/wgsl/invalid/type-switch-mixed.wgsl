// expect: wgsl/switch 4
fn f(a: i32) {
  switch a {
    case 1u {}
    default {}
  }
}
