struct S {
  a: i32, b: vec2f
}
const c = S(1, vec2f(2));
const d = c.b.x;
const_assert d == 2;
