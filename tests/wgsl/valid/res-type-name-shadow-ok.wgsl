const f32 = 1;
