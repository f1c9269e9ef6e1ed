fn f(a: u32) {
  let b = bitcast<f32>(a);
}
