alias V = vec3<f32>;
fn f() {
  let v = V(1, 2, 3);
}
