// expect: wgsl/template 3
fn f(a: f32) {
  let b = bitcast(a);
}
