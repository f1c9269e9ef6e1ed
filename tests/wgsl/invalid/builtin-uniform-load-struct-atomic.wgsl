// expect: wgsl/no-overload 7
struct S {
  a: atomic<u32>
}
var<workgroup> s: S;
@compute @workgroup_size(4) fn f() {
  let x = workgroupUniformLoad(&s);
}
