// expect: wgsl/not-assignable 4
override c = 1;
fn f() {
  c = 2;
}
