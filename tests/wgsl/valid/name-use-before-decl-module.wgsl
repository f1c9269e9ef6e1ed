fn f() {
  let x = a;
}
const a = b;
const b = 1;
