enable f16;
fn f() {
  let a: f16 = 1;
  let b: vec2<f16> = vec2(1, 2.5);
}
