// expect: wgsl/must-use 3
fn f() {
  bitcast<u32>(1i);
}
