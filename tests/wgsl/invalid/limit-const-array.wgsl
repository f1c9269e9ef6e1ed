// expect: wgsl/limit 3
fn f() {
  let a = array<u32, 70000>();
}
