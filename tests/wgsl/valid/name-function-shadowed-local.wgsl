fn f() {
  let storage = 1;
  let b = storage;
}
