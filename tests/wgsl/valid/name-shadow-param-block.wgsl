fn f(a: i32) {
 {
    let a = 2;
  }
}
