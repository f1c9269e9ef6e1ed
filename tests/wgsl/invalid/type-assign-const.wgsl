// expect: wgsl/not-assignable 4
const c = 1;
fn f() {
  c = 2;
}
