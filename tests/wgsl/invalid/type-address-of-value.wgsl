// expect: wgsl/no-address 3
fn f() {
  let p = &1;
}
