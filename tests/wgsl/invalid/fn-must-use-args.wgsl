// expect: wgsl/attribute 2
@must_use(1) fn f() -> i32 {
  return 1;
}
