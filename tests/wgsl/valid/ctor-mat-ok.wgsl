fn f(c: vec2f) {
  let a = mat2x2(c, c);
  let b = mat2x2f(1, 2, 3, 4);
  let d = mat3x2<f32>(c, c, c);
  let e = mat2x2(1, 2, 3, 4);
  let g = mat2x2f();
  let h = mat2x2(a);
}
