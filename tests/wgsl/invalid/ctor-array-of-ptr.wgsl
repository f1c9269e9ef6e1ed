// expect: wgsl/type-not-allowed 4
fn f() {
  var x = 1;
  let a = array(&x);
}
