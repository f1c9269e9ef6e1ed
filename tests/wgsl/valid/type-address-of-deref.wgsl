fn f() {
  var a = 1;
  let p = &a;
  let q = &*p;
  *q = 3;
}
