const c = 2;
override o = c * 2;
override p = o + 1;
override q: f32 = f32(p);
