// expect: wgsl/control-flow 3
fn f() -> i32 {
  loop {}
  return 1;
}
