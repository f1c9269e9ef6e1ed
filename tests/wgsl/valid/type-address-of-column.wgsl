fn f() {
  var m = mat2x2f();
  let p = &m[0];
  (*p).x = 1;
}
