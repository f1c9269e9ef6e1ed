// expect: wgsl/no-overload 5
fn f() {
  var a = 1;
  let p = &a;
  let b = p == p;
}
