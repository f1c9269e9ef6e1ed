fn f() {
  var a = vec2i();
  a.x++;
  a[1]--;
}
