fn f() {
  for (let i = 0; i < 3; ) {
    break;
  }
}
