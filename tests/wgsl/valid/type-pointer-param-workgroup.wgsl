var<workgroup> w: array<f32, 8>;
fn g(p: ptr<workgroup, array<f32, 8>>, i: u32) {
  p[i] = 1;
}
@compute @workgroup_size(8) fn f(@builtin(local_invocation_index) i: u32) {
  g(&w, i);
}
