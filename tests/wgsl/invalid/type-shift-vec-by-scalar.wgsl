// expect: wgsl/no-overload 3
fn f(a: vec2<i32>, b: u32) -> vec2<i32> {
  return a << b;
}
