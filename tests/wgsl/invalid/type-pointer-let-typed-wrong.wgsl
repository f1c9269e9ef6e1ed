// expect: wgsl/type-mismatch 4
fn f() {
  var a = 1;
  let p: ptr<function, u32> = &a;
}
