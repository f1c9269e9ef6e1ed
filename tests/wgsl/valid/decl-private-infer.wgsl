var<private> a = 1;
var<private> b = vec2(1.5);
fn f() {
  let x: i32 = a;
  let y: vec2<f32> = b;
}
