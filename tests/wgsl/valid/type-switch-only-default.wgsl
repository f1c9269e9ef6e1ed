fn f(a: i32) {
  switch a {
    default {}
  }
}
