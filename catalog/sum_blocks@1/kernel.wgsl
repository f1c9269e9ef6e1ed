// Each element sums its block of x, in order.
alias T = f32;
struct Params { x: array<vec4<u32>, 2>, y: array<vec4<u32>, 2>, rank: u32, block: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> part: array<f32, 64>;

// A workgroup an element: every lane sums each 64th of the block, then halves are joined.
@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  var sum = 0.0;
  if (i < p.count) {
    for (var j = lane; j < p.block; j += 64u) {
      var rest = i;
      var number = j;
      var at = 0u;
      var scale = 1u;
      for (var r = p.rank; r > 0u; r--) {
        let d = r - 1u;
        let n = p.x[d / 4u][d % 4u];
        let m = p.y[d / 4u][d % 4u];
        let size = n / m;
        at += (rest % m * size + number % size) * scale;
        rest /= m;
        number /= size;
        scale *= n;
      }
      sum += f32(x[at]);
    }
  }
  part[lane] = sum;
  for (var half = 32u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) { part[lane] += part[lane + half]; }
  }
  if (lane == 0u && i < p.count) { y[i] = T(part[0]); }
}
