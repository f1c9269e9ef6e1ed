// expect: wgsl/type-not-allowed 4
@group(0) @binding(0) var<storage, read_write> a: atomic<i32>;
fn f() {
  _ = a;
}
