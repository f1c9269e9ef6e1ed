fn f() {
  for (var i = 0; i < 3; i++) {
    continue;
    let x = 1;
  }
}
