// run: grid=1 fill=random
// A float beyond an integer type becomes the nearest value that both types represent.
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> o: array<u32, 64>;
@compute @workgroup_size(1) fn main() {
  let z = f32(x[0] & 0u);
  o[0] = u32(i32(z + 3e9));
  o[1] = u32(i32(z - 3e9));
  o[2] = u32(z + 5e9);
  o[3] = u32(z - 5e9);
  o[4] = u32(i32(z + 2147483648.0));
  o[5] = u32(z + 4294967296.0);
  o[6] = u32(z + 4294967040.0);
  o[7] = u32(i32(z - 2147483648.0));
}
