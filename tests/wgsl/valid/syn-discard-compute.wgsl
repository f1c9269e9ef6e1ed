fn f() {
  return;
}
@compute @workgroup_size(1) fn main() {
  f();
}
