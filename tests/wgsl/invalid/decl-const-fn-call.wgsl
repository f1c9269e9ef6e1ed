// expect: wgsl/not-constant 5
fn g() -> i32 {
  return 1;
}
const c = g();
