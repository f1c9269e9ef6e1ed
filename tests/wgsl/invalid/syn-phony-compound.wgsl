// expect: wgsl/syntax 3
fn f() {
  _ += 1;
}
