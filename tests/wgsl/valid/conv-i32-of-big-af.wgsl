const a = i32(1e20);
