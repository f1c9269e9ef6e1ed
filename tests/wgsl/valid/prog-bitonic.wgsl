struct Params {
  k: u32,
  j: u32,
}
@group(0) @binding(0) var<uniform> p: Params;
@group(0) @binding(1) var<storage, read_write> keys: array<vec2<u32>>;

fn swap(a: ptr<function, vec2<u32>>, b: ptr<function, vec2<u32>>) {
  let t = *a;
  *a = *b;
  *b = t;
}

@compute @workgroup_size(128)
fn sort_step(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = id.x;
  let l = i ^ p.j;
  if l > i && l < arrayLength(&keys) {
    var x = keys[i];
    var y = keys[l];
    let up = (i & p.k) == 0u;
    if (up && x.x > y.x) || (!up && x.x < y.x) {
      swap(&x, &y);
      keys[i] = x;
      keys[l] = y;
    }
  }
}
