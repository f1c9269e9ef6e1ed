// expect: wgsl/no-overload 3
fn f(c: vec2<bool>) {
  let a = select(1, 2, c);
}
