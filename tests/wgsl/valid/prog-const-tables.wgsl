const PRIMES = array(2u, 3u, 5u, 7u, 11u, 13u);
const WEIGHTS = array<vec2f, 3>(vec2(0.25), vec2(0.5, 0.5), vec2(0.25));
const IDENTITY = mat3x3f(1, 0, 0, 0, 1, 0, 0, 0, 1);
const COUNT = 6;
const HALF = COUNT / 2;
const_assert COUNT == 6 && HALF == 3;
const_assert all(IDENTITY[1] == vec3f(0, 1, 0));
struct Entry { key: u32, weight: f32 }
const ENTRIES = array(Entry(1, 0.5), Entry(2, 0.25));
var<private> table: array<Entry, 2> = ENTRIES;

fn pick(i: u32) -> f32 {
  let e = ENTRIES[i % 2u];
  return e.weight * WEIGHTS[i % 3u].x + f32(PRIMES[i % COUNT]) + IDENTITY[i % 3][0];
}

@group(0) @binding(0) var<storage, read_write> out: array<f32, COUNT>;
@compute @workgroup_size(COUNT)
fn main(@builtin(local_invocation_index) i: u32) {
  table[i & 1].weight += pick(i);
  out[i] = table[i & 1].weight;
}
