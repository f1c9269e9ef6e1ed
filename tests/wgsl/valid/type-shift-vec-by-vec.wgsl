fn f(a: vec2<i32>, b: vec2<u32>) -> vec2<i32> {
  return a >> b;
}
