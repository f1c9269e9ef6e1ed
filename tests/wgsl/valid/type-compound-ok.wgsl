fn f() {
  var a = 1;
  a += 2;
  a <<= 1;
  a |= 4;
  var v = vec3f();
  v *= 2;
  v *= vec3f(1);
  var m = mat2x2f();
  m *= m;
  m *= 2.0;
}
