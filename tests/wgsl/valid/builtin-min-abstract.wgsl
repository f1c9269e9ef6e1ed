fn f(a: u32) {
  let c = min(a, 3);
  let d = max(2.5, 1);
}
