fn f(a: i32) {
  switch a {
    case 1, 2, {}
    default {}
  }
}
