// expect: wgsl/no-overload 3
fn f(a: i32) {
  let b = mix(a, a, 0.5);
}
