fn f(i: u32) -> i32 {
  let a = array(1, 2, 3);
  return a[i];
}
