// expect: wgsl/must-use 3
fn f() {
  max(1, 2);
}
