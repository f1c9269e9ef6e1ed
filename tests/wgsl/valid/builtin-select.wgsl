const_assert select(1, 2, true) == 2;
fn f(c: bool) {
  let a = select(1, 2.5, c);
  let b = select(1u, 2u, c);
}
