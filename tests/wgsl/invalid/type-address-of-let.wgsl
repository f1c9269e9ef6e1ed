// expect: wgsl/no-address 4
fn f() {
  let a = 1;
  let p = &a;
}
