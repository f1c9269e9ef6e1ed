const_assert 1 < 2;
fn f() {
  const_assert true;
  const x = 3;
  const_assert x == 3;
}
