// expect: wgsl/const-error 3
fn f(x: bool) -> bool {
  return x && (1 / 0 == 1);
}
