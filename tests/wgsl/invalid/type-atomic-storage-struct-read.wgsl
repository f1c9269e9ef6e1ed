// expect: wgsl/access 5
struct S {
  a: atomic<u32>
}
@group(0) @binding(0) var<storage> a: S;
