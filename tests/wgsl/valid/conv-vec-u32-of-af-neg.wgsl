const a = vec2<u32>(vec2(-1.5, 2.0));
