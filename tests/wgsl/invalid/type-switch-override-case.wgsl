// expect: wgsl/not-constant 5
override b = 1;
fn f(a: i32) {
  switch a {
    case b {}
    default {}
  }
}
