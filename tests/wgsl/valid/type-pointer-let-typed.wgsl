fn f() {
  var a = 1;
  let p: ptr<function, i32> = &a;
}
