// Order of 64-bit numbers held as (low, high).
fn less_i64(a: vec2<u32>, b: vec2<u32>) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  return bitcast<i32>(a.y) < bitcast<i32>(b.y);
}
fn less_u64(a: vec2<u32>, b: vec2<u32>) -> bool {
  if (a.y == b.y) { return a.x < b.x; }
  return a.y < b.y;
}
