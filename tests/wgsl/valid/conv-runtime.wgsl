fn f(a: i32, b: u32, c: f32, d: bool) {
  let x = f32(a) + f32(b) + f32(d);
  let y = i32(c) + i32(d) + i32(b);
  let z = u32(a) + u32(c);
  let w = bool(a) || bool(c);
}
