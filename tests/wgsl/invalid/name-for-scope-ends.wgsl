// expect: wgsl/unresolved-name 4
fn f() {
  for (var i = 0; i < 2; i++) {}
  let b = i;
}
