// expect: wgsl/switch 3
fn f(a: i32) {
  switch a {
    case 1 {}
  }
}
