fn f() {
  var i = 0;
  for (i = 1; i < 3; i += 2) {}
}
