@group(0) @binding(0) var<storage> src: array<u32>;
@group(0) @binding(1) var<storage, read_write> dst: array<u32>;
override width: i32 = 64;
override height: i32 = 64;

fn cell(x: i32, y: i32) -> u32 {
  let wrapped = vec2i((x + width) % width, (y + height) % height);
  return src[u32(wrapped.y * width + wrapped.x)];
}

@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) g: vec3u) {
  let at = vec2i(g.xy);
  if any(at >= vec2i(width, height)) {
    return;
  }
  var n = 0u;
  for (var dy = -1; dy <= 1; dy++) {
    for (var dx = -1; dx <= 1; dx++) {
      if dx == 0 && dy == 0 {
        continue;
      }
      n += cell(at.x + dx, at.y + dy);
    }
  }
  var alive = 0u;
  switch n {
    case 2: {
      alive = cell(at.x, at.y);
    }
    case 3: {
      alive = 1u;
    }
    default: {}
  }
  dst[u32(at.y * width + at.x)] = alive;
}
