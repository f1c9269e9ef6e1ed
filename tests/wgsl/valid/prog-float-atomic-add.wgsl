@group(0) @binding(0) var<storage, read_write> acc: atomic<u32>;
@group(0) @binding(1) var<storage> x: array<f32>;

fn atomic_add_f32(p: ptr<storage, atomic<u32>, read_write>, v: f32) {
  var old = atomicLoad(p);
  loop {
    let next = bitcast<u32>(bitcast<f32>(old) + v);
    let r = atomicCompareExchangeWeak(p, old, next);
    if r.exchanged {
      break;
    }
    old = r.old_value;
  }
}

@compute @workgroup_size(32)
fn main(@builtin(global_invocation_id) g: vec3u) {
  if g.x >= arrayLength(&x) {
    return;
  }
  atomic_add_f32(&acc, x[g.x]);
}
