const a = (true || false) || (1u << 33u) == 0;
