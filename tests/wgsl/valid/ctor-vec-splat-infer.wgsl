const a = vec3(2.5);
const b = vec3(true);
fn f(x: i32) {
  let v: vec4i = vec4(x);
}
