@compute @workgroup_size(4) fn f() {
  workgroupBarrier();
  storageBarrier();
  textureBarrier();
}
