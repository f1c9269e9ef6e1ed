// One splat after another, its tiles by rows; then what lies behind the pairs.
struct Params { n: u32, across: u32, down: u32, capacity: u32 }
@group(0) @binding(0) var<storage, read> splat: array<f32>;
@group(0) @binding(1) var<storage, read> rect: array<u32>;
@group(0) @binding(2) var<storage, read> order: array<u32>;
@group(0) @binding(3) var<storage, read_write> tile: array<u32>;
@group(0) @binding(4) var<storage, read_write> owner: array<u32>;
@group(0) @binding(5) var<storage, read_write> first: array<u32>;
@group(0) @binding(6) var<storage, read_write> count: array<u32>;
@group(0) @binding(7) var<uniform> p: Params;

// Whether some pixel centre's place within tile (tx, ty) has a power that leaves an alpha of 1/255: by the least of the quadratic form
// over the rectangle of centres. Where the centre of the splat is outside, that is on an edge.
fn form(i: u32, dx: f32, dy: f32) -> f32 {
  return splat[i * 9u + 2u] * dx * dx + 2.0 * splat[i * 9u + 3u] * dx * dy + splat[i * 9u + 4u] * dy * dy;
}

// Nothing that is not finite, or that would overflow, is met.
fn is_drawable(i: u32) -> bool {
  for (var k = 0u; k < 6u; k++) {
    if (!(abs(splat[i * 9u + k]) < 1e6)) { return false; }
  }
  return splat[i * 9u + 2u] > 0.0 && splat[i * 9u + 4u] > 0.0 && splat[i * 9u + 5u] > 0.0;
}

fn along_x(i: u32, dy: f32, low: f32, high: f32) -> f32 {
  return form(i, min(max(-splat[i * 9u + 3u] * dy / splat[i * 9u + 2u], low), high), dy);
}

fn along_y(i: u32, dx: f32, low: f32, high: f32) -> f32 {
  return form(i, dx, min(max(-splat[i * 9u + 3u] * dx / splat[i * 9u + 4u], low), high));
}

fn touches(i: u32, tx: u32, ty: u32) -> bool {
  if (!is_drawable(i)) { return false; }
  let x0 = f32(tx) * 16.0 + 0.5 - splat[i * 9u];
  let y0 = f32(ty) * 16.0 + 0.5 - splat[i * 9u + 1u];
  let x1 = x0 + 15.0;
  let y1 = y0 + 15.0;
  var least = 0.0;
  if (x0 > 0.0 || x1 < 0.0 || y0 > 0.0 || y1 < 0.0) {
    least = min(min(along_y(i, x0, y0, y1), along_y(i, x1, y0, y1)), min(along_x(i, y0, x0, x1), along_x(i, y1, x0, x1)));
  }
  return least <= 2.0 * log(255.0 * splat[i * 9u + 5u]) + 1e-3; // a little more, so that rounding loses no pixel
}

@compute @workgroup_size(1)
fn main() {
  var kept = 0u;
  var wanted = 0u;
  for (var j = 0u; j < p.n; j++) {
    let i = order[j];
    let begin = kept;
    if (i < p.n) {
      for (var ty = rect[i * 4u + 1u]; ty < min(rect[i * 4u + 3u], p.down); ty++) {
        for (var tx = rect[i * 4u]; tx < min(rect[i * 4u + 2u], p.across); tx++) {
          if (touches(i, tx, ty)) {
            wanted++;
            if (kept < p.capacity) {
              tile[kept] = ty * p.across + tx;
              owner[kept] = i;
              kept++;
            }
          }
        }
      }
    }
    first[j * 2u] = begin;
    first[j * 2u + 1u] = kept - begin;
  }
  count[0] = kept;
  count[1] = wanted;
}

@compute @workgroup_size(64)
fn rest(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let k = id.y * (groups.x * 64u) + id.x;
  if (k >= p.capacity || k < count[0]) { return; }
  tile[k] = 0xffffffffu;
  owner[k] = 0xffffffffu;
}
