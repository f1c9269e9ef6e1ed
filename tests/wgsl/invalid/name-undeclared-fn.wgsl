// expect: wgsl/unresolved-name 3
fn f() {
  foo();
}
