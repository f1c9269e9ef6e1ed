override o = 1;
override p: f32 = f32(o) * 2.5;
override q = o > 0 && p > 1.0;
