// expect: wgsl/switch 5
fn f() {
  switch 1 {
    case 1u {}
    case 2i {}
    default {}
  }
}
