fn f(a: f32, b: vec2f) {
  let x = vec4f(a, b, 1);
  let y = vec3(b, a);
  let z = vec4(b, b);
  let w = vec2<i32>(1, 2);
  let q = vec3f(a);
  let r = vec3<f32>(b, 2);
  let s = vec4(a, vec3(1, 2, 3));
}
