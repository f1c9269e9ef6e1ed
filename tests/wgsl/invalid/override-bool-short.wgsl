// expect: wgsl/const-error 3
override o = false;
override p = o && (1 / 0 == 1);
