// expect: wgsl/no-overload 3
fn f(c: bool) {
  let a = select(1i, 2u, c);
}
