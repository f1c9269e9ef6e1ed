// expect: wgsl/const-error 4
fn f(a: u32) {
  switch a {
    case -1 {}
    default {}
  }
}
