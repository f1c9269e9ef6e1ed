// expect: wgsl/syntax 4
fn f() {
  if true {
