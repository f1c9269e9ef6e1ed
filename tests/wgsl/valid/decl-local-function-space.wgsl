fn f() {
  var<function> a: i32;
}
