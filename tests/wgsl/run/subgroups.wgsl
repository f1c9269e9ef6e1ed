// run: grid=2 fill=random
enable subgroups;
@group(0) @binding(0) var<storage, read> x: array<i32, 128>;
@group(0) @binding(1) var<storage, read_write> o: array<vec4<u32>, 1024>;
@group(0) @binding(2) var<storage, read> f: array<f32, 128>;
@group(0) @binding(3) var<storage, read_write> r: array<vec2<f32>, 128>;
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(subgroup_invocation_id) s: u32, @builtin(subgroup_size) n: u32) {
  let v = x[g.x];
  let u = bitcast<u32>(v);
  let at = g.x * 8u;
  o[at] = vec4(subgroupAdd(u), subgroupMul(u), subgroupInclusiveAdd(u), subgroupExclusiveAdd(u));
  o[at + 1u] = vec4(subgroupInclusiveMul(u), subgroupExclusiveMul(u), u32(subgroupMin(v)), u32(subgroupMax(v)));
  o[at + 2u] = vec4(subgroupAnd(u), subgroupOr(u), subgroupXor(u), u32(subgroupAll(v > -5)) + 2u * u32(subgroupAny(v == 7)));
  o[at + 3u] = subgroupBallot(v > 4);
  o[at + 4u] = vec4(u32(subgroupElect()), subgroupBroadcast(u, 2u), subgroupBroadcastFirst(u), subgroupShuffle(u, n - 1u - s));
  o[at + 5u] = vec4(subgroupShuffleXor(u, 1u), quadBroadcast(u, 3u), quadSwapX(u), quadSwapY(u));
  o[at + 6u] = vec4(quadSwapDiagonal(u), select(0u, subgroupShuffleUp(u, 1u), s >= 1u), select(0u, subgroupShuffleDown(u, 1u), s + 1u < n), n);
  o[at + 7u] = subgroupShuffleXor(vec4(u, s, g.x, 1u), 2u);
  r[g.x] = vec2(subgroupAdd(f[g.x]), subgroupMax(f[g.x]));
}
