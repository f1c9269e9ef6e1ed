// expect: wgsl/template 4
fn f() {
  let a = 1;
  let b = a<i32>;
}
