fn f(a: f32) {
  let b = bitcast<f32>(a);
  let c = bitcast<vec3f>(vec3i(1));
}
