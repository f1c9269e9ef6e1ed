// expect: wgsl/template 2
alias V = vec3;
fn f() {
  let v = V(1, 2, 3);
}
