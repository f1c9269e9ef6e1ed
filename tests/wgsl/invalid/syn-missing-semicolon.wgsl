// expect: wgsl/syntax 3
fn f() {
  let a = 1 let b = 2;
}
