// expect: wgsl/syntax 3
fn f() {
  else {}
}
