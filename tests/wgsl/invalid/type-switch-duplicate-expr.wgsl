// expect: wgsl/switch 6
const X = 3;
fn f(a: i32) {
  switch a {
    case X {}
    case 1 + 2 {}
    default {}
  }
}
