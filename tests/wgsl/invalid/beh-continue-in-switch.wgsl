// expect: wgsl/control-flow 5
fn f(a: i32) {
  switch a {
    default {
      continue;
    }
  }
}
