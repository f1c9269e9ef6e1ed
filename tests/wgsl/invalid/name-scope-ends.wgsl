// expect: wgsl/unresolved-name 6
fn f() {
 {
    let a = 1;
  }
  let b = a;
}
