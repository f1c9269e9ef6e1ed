fn f(a: vec3f) -> vec3f {
  return 1 + a * 2 - 3.0 / a;
}
