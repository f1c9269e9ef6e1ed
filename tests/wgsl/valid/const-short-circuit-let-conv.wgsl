const a = false && (i32(1e20) == 1);
