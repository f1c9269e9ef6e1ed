// expect: wgsl/type-mismatch 3
fn f() {
  for (var i = 0; i; i++) {}
}
