const a = 1u << 31u;
