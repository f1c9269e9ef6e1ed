// expect: wgsl/type-mismatch 3
fn f() {
  let a: bool = 1;
}
