// expect: wgsl/control-flow 4
fn f() {
  if true {
    break;
  }
}
