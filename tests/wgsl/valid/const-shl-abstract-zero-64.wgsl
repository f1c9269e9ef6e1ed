const a = 0 << 64;
