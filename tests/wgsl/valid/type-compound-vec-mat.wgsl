fn f() {
  var v = vec2f();
  v *= mat2x2f();
}
