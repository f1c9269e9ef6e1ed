fn f() {
  var a = vec2i();
  let p = &a;
  *p = vec2i(1);
  (*p).x = 2;
  p.y = 3;
  p[0] = 4;
  *&a = vec2i();
}
