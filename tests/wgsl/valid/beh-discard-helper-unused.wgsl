fn f() {
  var a = 1;
  a = 2;
  return;
}
