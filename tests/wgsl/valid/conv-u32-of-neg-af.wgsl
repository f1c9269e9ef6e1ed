const a = u32(-5.0);
