fn f(i: u32) -> f32 {
  const a = array(1, 2, 3.5);
  return a[i];
}
