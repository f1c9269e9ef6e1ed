const a = bitcast<u32>(4294967295);
