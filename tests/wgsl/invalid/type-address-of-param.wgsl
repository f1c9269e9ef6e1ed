// expect: wgsl/no-address 3
fn f(a: i32) {
  let p = &a;
}
