// The states before every step, then the way back, one invocation a sequence and direction. d_gates holds the gates in between, and the
// gradients of the initial states those of the state that is looked at.
struct Params {
  steps: u32, batch: u32, h: u32, directions: u32, backward: u32, order: u32, gate: u32, candidate: u32, output: u32, has_peephole: u32, count: u32, units: u32,
}
@group(0) @binding(0) var<storage, read> gates: array<f32>;
@group(0) @binding(1) var<storage, read> recurrent_weight: array<f32>;
@group(0) @binding(2) var<storage, read> peephole_weight: array<f32>;
@group(0) @binding(3) var<storage, read> initial_hidden_state: array<f32>;
@group(0) @binding(4) var<storage, read> initial_cell_state: array<f32>;
@group(0) @binding(5) var<storage, read> d_hidden: array<f32>;
@group(0) @binding(6) var<storage, read> d_cell: array<f32>;
@group(0) @binding(7) var<storage, read> d_sequence: array<f32>;
@group(0) @binding(8) var<storage, read_write> d_gates: array<f32>;
@group(0) @binding(9) var<storage, read_write> hidden_before: array<f32>;
@group(0) @binding(10) var<storage, read_write> cell_before: array<f32>;
@group(0) @binding(11) var<storage, read_write> d_initial_hidden_state: array<f32>;
@group(0) @binding(12) var<storage, read_write> d_initial_cell_state: array<f32>;
@group(0) @binding(13) var<uniform> p: Params;

// A gate or candidate, and its slope at the argument where it has the value y.
fn squash(kind: u32, v: f32) -> f32 {
  if (kind == 0u) { return select(exp(-abs(v)), f32(1), v >= f32(0)) / (f32(1) + exp(-abs(v))); }
  if (kind == 1u) { return tanh(clamp(v, f32(-20), f32(20))); }
  return max(v, f32(0));
}
fn slope(kind: u32, y: f32) -> f32 {
  if (kind == 0u) { return y * (f32(1) - y); }
  if (kind == 1u) { return f32(1) - y * y; }
  return select(f32(0), f32(1), y > f32(0));
}

// The step that is number t on the way of sequence i, and where its elements of h begin.
fn step_of(i: u32, t: u32) -> u32 {
  let reverse = p.backward == 1u || i / p.batch == 1u;
  return select(t, p.steps - 1u - t, reverse);
}
fn place(i: u32, t: u32) -> u32 { return ((i / p.batch * p.steps + step_of(i, t)) * p.batch + i % p.batch) * p.h; }

// Where the gates o, f and the candidate g stand: i, o, f, g or i, f, g, o.
fn o_at() -> u32 { return select(1u, 3u, p.order == 1u); }
fn f_at() -> u32 { return select(2u, 1u, p.order == 1u); }
fn g_at() -> u32 { return select(3u, 2u, p.order == 1u); }

// What gate g of unit j takes from the state that begins at first.
fn of_state(d: u32, g: u32, j: u32, first: u32) -> f32 {
  let row = (d * 4u + g) * p.h + j;
  var sum = 0.0;
  for (var k = 0u; k < p.h; k++) { sum += recurrent_weight[row * p.h + k] * hidden_before[first + k]; }
  return sum;
}

@compute @workgroup_size(64)
fn start(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.units) { return; }
  let at = place(i / p.h, 0u) + i % p.h;
  if (p.steps > 0u) {
    hidden_before[at] = initial_hidden_state[i];
    cell_before[at] = initial_cell_state[i];
  }
}

@compute @workgroup_size(64)
fn forward(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let d = i / p.batch;
  for (var t = 0u; t < p.steps; t++) {
    let at = place(i, t);
    for (var j = 0u; j < p.h; j++) {
      let c = cell_before[at + j];
      var a_i = gates[at * 4u + j] + of_state(d, 0u, j, at);
      var a_o = gates[at * 4u + o_at() * p.h + j] + of_state(d, o_at(), j, at);
      var a_f = gates[at * 4u + f_at() * p.h + j] + of_state(d, f_at(), j, at);
      let v_g = squash(p.candidate, gates[at * 4u + g_at() * p.h + j] + of_state(d, g_at(), j, at));
      if (p.has_peephole != 0u) {
        a_i += peephole_weight[d * 3u * p.h + j] * c;
        a_o += peephole_weight[(d * 3u + 1u) * p.h + j] * c;
        a_f += peephole_weight[(d * 3u + 2u) * p.h + j] * c;
      }
      let v_i = squash(p.gate, a_i);
      let v_o = squash(p.gate, a_o);
      let v_f = squash(p.gate, a_f);
      d_gates[at * 4u + j] = v_i;
      d_gates[at * 4u + o_at() * p.h + j] = v_o;
      d_gates[at * 4u + f_at() * p.h + j] = v_f;
      d_gates[at * 4u + g_at() * p.h + j] = v_g;
      if (t + 1u < p.steps) {
        let kept = v_f * c + v_i * v_g;
        cell_before[place(i, t + 1u) + j] = kept;
        hidden_before[place(i, t + 1u) + j] = v_o * squash(p.output, kept);
      }
    }
  }
}

@compute @workgroup_size(64)
fn seed(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.units) { return; }
  d_initial_hidden_state[i] = d_hidden[i];
  d_initial_cell_state[i] = d_cell[i];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  let d = i / p.batch;
  for (var left = p.steps; left > 0u; left--) {
    let at = place(i, left - 1u);
    let out = ((step_of(i, left - 1u) * p.directions + d) * p.batch + i % p.batch) * p.h;
    for (var j = 0u; j < p.h; j++) {
      let v_i = d_gates[at * 4u + j];
      let v_o = d_gates[at * 4u + o_at() * p.h + j];
      let v_f = d_gates[at * 4u + f_at() * p.h + j];
      let v_g = d_gates[at * 4u + g_at() * p.h + j];
      let c = cell_before[at + j];
      let shown = squash(p.output, v_f * c + v_i * v_g);
      let d_h = d_initial_hidden_state[i * p.h + j] + d_sequence[out + j];
      let d_c = d_initial_cell_state[i * p.h + j] + d_h * v_o * slope(p.output, shown);
      let d_i = d_c * v_g * slope(p.gate, v_i);
      let d_o = d_h * shown * slope(p.gate, v_o);
      let d_f = d_c * c * slope(p.gate, v_f);
      d_gates[at * 4u + j] = d_i;
      d_gates[at * 4u + o_at() * p.h + j] = d_o;
      d_gates[at * 4u + f_at() * p.h + j] = d_f;
      d_gates[at * 4u + g_at() * p.h + j] = d_c * v_i * slope(p.candidate, v_g);
      var before = d_c * v_f;
      if (p.has_peephole != 0u) {
        before += d_i * peephole_weight[d * 3u * p.h + j] + d_o * peephole_weight[(d * 3u + 1u) * p.h + j] + d_f * peephole_weight[(d * 3u + 2u) * p.h + j];
      }
      d_initial_cell_state[i * p.h + j] = before;
    }
    for (var k = 0u; k < p.h; k++) {
      var sum = 0.0;
      for (var q = 0u; q < 4u * p.h; q++) { sum += d_gates[at * 4u + q] * recurrent_weight[(d * 4u * p.h + q) * p.h + k]; }
      d_initial_hidden_state[i * p.h + k] = sum;
    }
  }
}
