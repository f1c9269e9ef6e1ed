@group(0) @binding(0) var<storage> a: i32;
@group(0) @binding(0) var<storage> b: i32;
fn f() {
  _ = a;
  _ = b;
}
