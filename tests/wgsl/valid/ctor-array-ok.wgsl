fn f(x: f32) {
  let a = array(1, 2, 3);
  let b = array<f32, 2>(1, x);
  let c = array(x, 1, 2);
  let d = array(vec2(1, 2), vec2f(x));
  let e = array<vec2f, 2>();
}
