enable subgroups;
@compute @workgroup_size(64) fn f() {
  let a = subgroupAdd(1u);
  let b = subgroupBallot(true);
  let c = subgroupBroadcast(2f, 3u);
  let d = subgroupElect();
  let e = subgroupShuffle(1i, 2u);
  let g = subgroupShuffleXor(vec2f(1), 1u);
  let h = subgroupAll(true);
  let i = subgroupMin(vec3i(1));
  let j = quadSwapX(1f);
  let k = quadBroadcast(1f, 2u);
  let l = subgroupInclusiveAdd(2);
  let m = subgroupExclusiveMul(3f);
}
