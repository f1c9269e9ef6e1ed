fn f() {
  for (;;) {
    break;
  }
}
