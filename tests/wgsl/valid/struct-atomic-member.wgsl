struct S {
  a: atomic<i32>, b: array<atomic<u32>, 4>
}
var<workgroup> s: S;
fn f() {
  atomicStore(&s.a, 1);
  atomicAdd(&s.b[2], 1);
}
