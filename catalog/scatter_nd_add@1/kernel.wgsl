// Every slice of x gets a list of the tuples that mean it: heads holds the number of one of them, links that of the next, from 1.
// Lists come in any order and are sorted, so that main adds in the order of the tuples.
alias T = f32;
struct Params { x: array<vec4<u32>, 2>, k: u32, slice: u32, words: u32, positive: u32, tuples: u32, slices: u32, count: u32 }
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> indices: array<u32>;
@group(0) @binding(2) var<storage, read> updates: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;
@group(0) @binding(5) var<storage, read_write> heads: array<atomic<u32>>;
@group(0) @binding(6) var<storage, read_write> links: array<u32>;

// The index k as a position below n: one word or, for 64 bits, low and high; negative ones count from the end, and
// those outside take the nearest element.
fn position(k: u32, n: u32) -> u32 {
  if (p.positive == 1u) { return min(indices[k], n - 1u); }
  var index = bitcast<i32>(indices[k * p.words]);
  if (p.words == 2u) {
    let high = bitcast<i32>(indices[k * 2u + 1u]);
    if (high != (index >> 31u)) { index = select(2147483647, -2147483647, high < 0); }
  }
  if (index < 0) { index += i32(n); }
  return u32(clamp(index, 0, i32(n) - 1));
}

// The slice of x that an index tuple means.
fn target_of(tuple: u32) -> u32 {
  var at = 0u;
  for (var d = 0u; d < p.k; d++) {
    let n = p.x[d / 4u][d % 4u];
    at = at * n + position(tuple * p.k + d, n);
  }
  return at;
}

@compute @workgroup_size(64)
fn clear(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i < p.slices) { atomicStore(&heads[i], 0u); }
}

@compute @workgroup_size(64)
fn link(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i < p.tuples) { links[i] = atomicExchange(&heads[target_of(i)], i + 1u); }
}

// Two sorted lists as one.
fn merge(left: u32, right: u32) -> u32 {
  var a = left;
  var b = right;
  var head = 0u;
  var tail = 0u;
  while (a != 0u && b != 0u) {
    let next = min(a, b);
    if (tail == 0u) { head = next; } else { links[tail - 1u] = next; }
    tail = next;
    if (next == a) { a = links[a - 1u]; } else { b = links[b - 1u]; }
  }
  if (tail == 0u) { return a + b; }
  links[tail - 1u] = a + b;
  return head;
}

@compute @workgroup_size(64)
fn sort(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.slices) { return; }
  var runs: array<u32, 32>; // run l: a sorted list of 2^l, or none
  var at = atomicLoad(&heads[i]);
  while (at != 0u) {
    let next = links[at - 1u];
    links[at - 1u] = 0u;
    var run = at;
    var l = 0u;
    while (runs[l] != 0u) {
      run = merge(runs[l], run);
      runs[l] = 0u;
      l++;
    }
    runs[l] = run;
    at = next;
  }
  var sorted = 0u;
  for (var l = 0u; l < 32u; l++) { sorted = merge(sorted, runs[l]); }
  atomicStore(&heads[i], sorted);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let i = id.y * (groups.x * 64u) + id.x;
  if (i >= p.count) { return; }
  var sum = 0.0;
  for (var at = atomicLoad(&heads[i / p.slice]); at != 0u; at = links[at - 1u]) { sum += f32(updates[(at - 1u) * p.slice + i % p.slice]); }
  y[i] = T(f32(x[i]) + sum);
}
