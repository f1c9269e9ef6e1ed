enable f16;
requires readonly_and_readwrite_storage_textures;
diagnostic(off, derivative_uniformity);
alias T = f32;
struct P { n: u32, @size(16) k: i32, @align(16) v: vec3<f32>, m: mat2x2<f32>, a: array<vec4<u32>, 3> }
override W: u32 = 64u;
@id(7) override scale: f32 = 1.5;
const N = 4;
const table = array<i32, N>(1, -2, 0x7f, 1 << 3);
@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: P;
@group(0) @binding(3) var<storage, read_write> counts: array<atomic<u32>>;
var<workgroup> tile: array<T, 64>;
var<private> seen: bool = false;
const_assert N == 4;
fn swap(a: ptr<function, f32>, b: ptr<function, f32>) {
    let t = *a;
    *a = *b;
    *b = t;
}
fn pick(i: i32, h: f16) -> f32 {
    switch i {
        case 0, 1: { return 1.0; }
        case 2 { return f32(h) * 0x1.8p3; }
        default: { }
    }
    return select(0.5, -1e-3f, i < 3 && (i & 1) == 1);
}
@compute @workgroup_size(W, 1, 1)
fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32) {
    tile[l] = 0.0;
    workgroupBarrier();
    var acc: f32;
    var best = vec4f(1, 2, 3, 4).wzyx;
    for (var i = 0u; i < p.n; i++) {
        if i == 7u { continue; } else if i > 100u { break; }
        acc += x[i] * p.v[i % 3u] - exp(-abs(x[i]));
    }
    while acc > 1e30 { acc *= 0.5; }
    loop {
        seen = !seen;
        continuing { break if seen; }
    }
    var first = best[0];
    swap(&acc, &first);
    atomicAdd(&counts[g.x], bitcast<u32>(acc) >> 3u);
    let m = p.m * p.m;
    _ = dot(best.xy, m[1]);
    if g.x < p.n { y[g.x] = fma(acc, scale, pick(i32(l), 2.0h)) + f32(table[l & 3u]) + max(m[0][1], tile[(l + 1u) % 64u]); }
}
