// expect: wgsl/unresolved-name 3
fn f() {
  let a = b;
  let b = 1;
}
