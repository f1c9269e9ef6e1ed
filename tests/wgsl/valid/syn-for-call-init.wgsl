fn g() {}
fn f() {
  for (g(); true; g()) {
    break;
  }
}
