// One invocation a sequence and direction; the state is kept twice, old and new.
alias T = f32;
struct Params {
  steps: u32, batch: u32, n: u32, h: u32, directions: u32, backward: u32, order: u32, gate: u32, candidate: u32, output: u32,
  has_bias: u32, has_recurrent_bias: u32, has_peephole: u32, has_hidden: u32, has_cell: u32, keep: u32, count: u32,
}
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> weight: array<T>;
@group(0) @binding(2) var<storage, read> recurrent_weight: array<T>;
@group(0) @binding(3) var<storage, read> bias: array<T>;
@group(0) @binding(4) var<storage, read> recurrent_bias: array<T>;
@group(0) @binding(5) var<storage, read> peephole_weight: array<T>;
@group(0) @binding(6) var<storage, read> initial_hidden_state: array<T>;
@group(0) @binding(7) var<storage, read> initial_cell_state: array<T>;
@group(0) @binding(8) var<storage, read_write> hidden: array<T>;
@group(0) @binding(9) var<storage, read_write> cell: array<T>;
@group(0) @binding(10) var<storage, read_write> sequence: array<T>;
@group(0) @binding(11) var<storage, read_write> state: array<f32>;
@group(0) @binding(12) var<uniform> p: Params;

fn squash(kind: u32, v: f32) -> f32 {
  if (kind == 0u) { return select(exp(-abs(v)), f32(1), v >= f32(0)) / (f32(1) + exp(-abs(v))); }
  if (kind == 1u) { return tanh(clamp(v, f32(-20), f32(20))); }
  return max(v, f32(0));
}

// What gate g of unit j takes from x at a step.
fn of_input(d: u32, g: u32, j: u32, at: u32) -> f32 {
  let row = (d * 4u + g) * p.h + j;
  var sum = f32(0);
  for (var k = 0u; k < p.n; k++) { sum += f32(weight[row * p.n + k]) * f32(x[at + k]); }
  if (p.has_bias != 0u) { sum += f32(bias[row]); }
  return sum;
}

// What it takes from the state that begins at `from`.
fn of_state(d: u32, g: u32, j: u32, start: u32) -> f32 {
  let row = (d * 4u + g) * p.h + j;
  var sum = f32(0);
  for (var k = 0u; k < p.h; k++) { sum += f32(recurrent_weight[row * p.h + k]) * state[start + k]; }
  if (p.has_recurrent_bias != 0u) { sum += f32(recurrent_bias[row]); }
  return sum;
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let d = i / p.batch;
  let b = i % p.batch;
  let reverse = p.backward == 1u || d == 1u;
  let home = i * p.h * 4u;
  var old = home;
  var next = home + p.h;
  var old_cell = home + p.h * 2u;
  var next_cell = home + p.h * 3u;
  for (var j = 0u; j < p.h; j++) {
    var v = f32(0);
    if (p.has_hidden != 0u) { v = f32(initial_hidden_state[i * p.h + j]); }
    state[old + j] = v;
    var c = f32(0);
    if (p.has_cell != 0u) { c = f32(initial_cell_state[i * p.h + j]); }
    state[old_cell + j] = c;
  }
  for (var t = 0u; t < p.steps; t++) {
    let step = select(t, p.steps - 1u - t, reverse);
    let at = (step * p.batch + b) * p.n;
    for (var j = 0u; j < p.h; j++) {
      let c = state[old_cell + j];
      var i_in = of_input(d, 0u, j, at) + of_state(d, 0u, j, old);
      var o_in = of_input(d, select(1u, 3u, p.order == 1u), j, at) + of_state(d, select(1u, 3u, p.order == 1u), j, old);
      var f_in = of_input(d, select(2u, 1u, p.order == 1u), j, at) + of_state(d, select(2u, 1u, p.order == 1u), j, old);
      let g = squash(p.candidate, of_input(d, select(3u, 2u, p.order == 1u), j, at) + of_state(d, select(3u, 2u, p.order == 1u), j, old));
      if (p.has_peephole != 0u) {
        i_in += f32(peephole_weight[d * 3u * p.h + j]) * c;
        o_in += f32(peephole_weight[(d * 3u + 1u) * p.h + j]) * c;
        f_in += f32(peephole_weight[(d * 3u + 2u) * p.h + j]) * c;
      }
      let kept = squash(p.gate, f_in) * c + squash(p.gate, i_in) * g;
      let v = squash(p.gate, o_in) * squash(p.output, kept);
      state[next_cell + j] = kept;
      state[next + j] = v;
      if (p.keep != 0u) { sequence[((step * p.directions + d) * p.batch + b) * p.h + j] = T(v); }
    }
    let swap = old;
    old = next;
    next = swap;
    let swap_cell = old_cell;
    old_cell = next_cell;
    next_cell = swap_cell;
  }
  for (var j = 0u; j < p.h; j++) {
    hidden[i * p.h + j] = T(state[old + j]);
    cell[i * p.h + j] = T(state[old_cell + j]);
  }
}
