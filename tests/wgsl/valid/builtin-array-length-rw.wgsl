@group(0) @binding(0) var<storage, read_write> b: array<i32>;
fn f() -> u32 {
  return arrayLength(&b);
}
