// expect: wgsl/reserved-word 5
fn f(a: i32) {
  switch a {
    case 1 {
      fallthrough;
    }
    default {}
  }
}
