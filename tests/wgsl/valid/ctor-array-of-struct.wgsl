struct S {
  a: i32
}
const a = array(S(1), S(2));
const_assert a[1].a == 2;
