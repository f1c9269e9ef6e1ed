// expect: wgsl/control-flow 3
fn f(a: i32) {
  loop {
    switch a {
      case 1 {
        break;
      }
      default {}
    }
  }
}
