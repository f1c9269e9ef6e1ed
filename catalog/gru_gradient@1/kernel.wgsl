// The states before every step, then the way back: one workgroup a sequence and direction, its lanes over the hidden units. d_gates holds z, r
// and n in between, and the gradient of the initial state that of the state that is looked at.
struct Params {
  steps: u32, batch: u32, h: u32, directions: u32, backward: u32, order: u32, reset_after: u32, gate: u32, candidate: u32, has_recurrent_bias: u32, count: u32, units: u32,
}
@group(0) @binding(0) var<storage, read> gates: array<f32>;
@group(0) @binding(1) var<storage, read> recurrent_weight: array<f32>;
@group(0) @binding(2) var<storage, read> recurrent_bias: array<f32>;
@group(0) @binding(3) var<storage, read> initial_hidden_state: array<f32>;
@group(0) @binding(4) var<storage, read> d_hidden: array<f32>;
@group(0) @binding(5) var<storage, read> d_sequence: array<f32>;
@group(0) @binding(6) var<storage, read_write> d_gates: array<f32>;
@group(0) @binding(7) var<storage, read_write> d_state: array<f32>;
@group(0) @binding(8) var<storage, read_write> hidden_before: array<f32>;
@group(0) @binding(9) var<storage, read_write> gated: array<f32>;
@group(0) @binding(10) var<storage, read_write> d_initial_hidden_state: array<f32>;
@group(0) @binding(11) var<uniform> p: Params;

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

// What gate g of unit j takes from the h elements that begin at first of hidden_before, or of gated.
fn of_state(d: u32, g: u32, j: u32, first: u32) -> f32 {
  let row = (d * 3u + g) * p.h + j;
  var sum = 0.0;
  for (var k = 0u; k < p.h; k++) { sum += recurrent_weight[row * p.h + k] * hidden_before[first + k]; }
  if (p.has_recurrent_bias != 0u) { sum += recurrent_bias[row]; }
  return sum;
}
fn of_gated(d: u32, j: u32, first: u32) -> f32 {
  let row = (d * 3u + 2u) * p.h + j;
  var sum = 0.0;
  for (var k = 0u; k < p.h; k++) { sum += recurrent_weight[row * p.h + k] * gated[first + k]; }
  if (p.has_recurrent_bias != 0u) { sum += recurrent_bias[row]; }
  return sum;
}

@compute @workgroup_size(64)
fn start(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.units) { return; }
  if (p.steps > 0u) { hidden_before[place(i / p.h, 0u) + i % p.h] = initial_hidden_state[i]; }
}

@compute @workgroup_size(64)
fn forward(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  if (i >= p.count) { return; }
  let d = i / p.batch;
  let z_at = p.order; // zrn: 0, rzn: 1
  let r_at = 1u - p.order;
  for (var t = 0u; t < p.steps; t++) {
    let at = place(i, t);
    for (var j = lane; j < p.h; j += 64u) {
      let r = squash(p.gate, gates[at * 3u + r_at * p.h + j] + of_state(d, r_at, j, at));
      d_gates[at * 3u + r_at * p.h + j] = r;
      d_gates[at * 3u + z_at * p.h + j] = squash(p.gate, gates[at * 3u + z_at * p.h + j] + of_state(d, z_at, j, at));
      gated[at + j] = select(r, 1.0, p.reset_after != 0u) * hidden_before[at + j];
    }
    storageBarrier();
    for (var j = lane; j < p.h; j += 64u) {
      let z = d_gates[at * 3u + z_at * p.h + j];
      let q = of_gated(d, j, at);
      d_state[at * 3u + 2u * p.h + j] = q;
      let n = squash(p.candidate, gates[at * 3u + 2u * p.h + j] + select(1.0, d_gates[at * 3u + r_at * p.h + j], p.reset_after != 0u) * q);
      d_gates[at * 3u + 2u * p.h + j] = n;
      if (t + 1u < p.steps) { hidden_before[place(i, t + 1u) + j] = (1.0 - z) * n + z * hidden_before[at + j]; }
    }
    storageBarrier();
  }
}

@compute @workgroup_size(64)
fn seed(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.units) { return; }
  d_initial_hidden_state[i] = d_hidden[i];
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
        @builtin(local_invocation_index) lane: u32) {
  let i = group.y * groups.x + group.x;
  if (i >= p.count) { return; }
  let d = i / p.batch;
  let z_at = p.order;
  let r_at = 1u - p.order;
  for (var left = p.steps; left > 0u; left--) {
    let at = place(i, left - 1u);
    let out = ((step_of(i, left - 1u) * p.directions + d) * p.batch + i % p.batch) * p.h;
    for (var j = lane; j < p.h; j += 64u) {
      let z = d_gates[at * 3u + z_at * p.h + j];
      let n = d_gates[at * 3u + 2u * p.h + j];
      let d_h = d_initial_hidden_state[i * p.h + j] + d_sequence[out + j];
      let d_n = d_h * (1.0 - z) * slope(p.candidate, n);
      let d_z = d_h * (hidden_before[at + j] - n) * slope(p.gate, z);
      d_initial_hidden_state[i * p.h + j] = d_h * z;
      d_gates[at * 3u + z_at * p.h + j] = d_z;
      d_state[at * 3u + z_at * p.h + j] = d_z;
      d_gates[at * 3u + 2u * p.h + j] = d_n;
      if (p.reset_after != 0u) {
        let r = d_gates[at * 3u + r_at * p.h + j];
        let d_r = d_n * d_state[at * 3u + 2u * p.h + j] * slope(p.gate, r);
        d_gates[at * 3u + r_at * p.h + j] = d_r;
        d_state[at * 3u + r_at * p.h + j] = d_r;
        d_state[at * 3u + 2u * p.h + j] = d_n * r;
      } else {
        d_state[at * 3u + 2u * p.h + j] = d_n;
      }
    }
    storageBarrier();
    if (p.reset_after == 0u) {
      for (var k = lane; k < p.h; k += 64u) {
        var sum = 0.0;
        for (var j = 0u; j < p.h; j++) { sum += d_state[at * 3u + 2u * p.h + j] * recurrent_weight[((d * 3u + 2u) * p.h + j) * p.h + k]; }
        let r = d_gates[at * 3u + r_at * p.h + k];
        let d_r = sum * hidden_before[at + k] * slope(p.gate, r);
        d_gates[at * 3u + r_at * p.h + k] = d_r;
        d_state[at * 3u + r_at * p.h + k] = d_r;
        d_initial_hidden_state[i * p.h + k] += sum * r;
      }
    }
    storageBarrier();
    for (var k = lane; k < p.h; k += 64u) {
      var sum = 0.0;
      for (var q = 0u; q < select(2u, 3u, p.reset_after != 0u) * p.h; q++) { sum += d_state[at * 3u + q] * recurrent_weight[(d * 3u * p.h + q) * p.h + k]; }
      d_initial_hidden_state[i * p.h + k] += sum;
    }
    storageBarrier();
  }
}
