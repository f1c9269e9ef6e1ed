const a = bitcast<u32>(-1);
