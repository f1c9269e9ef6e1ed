fn f() {
  _ = 1;
  _ = vec3f();
}
