var<workgroup> s: array<f32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
  for (var k = 32u; k > 0u; k >>= 1u) {
    if i < k {
      s[i] += s[i + k];
    }
    workgroupBarrier();
  }
}
