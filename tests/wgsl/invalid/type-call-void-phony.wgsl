// expect: wgsl/type-mismatch 4
fn g() {}
fn f() {
  _ = g();
}
