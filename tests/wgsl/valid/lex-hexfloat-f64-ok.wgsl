const a = 0x1.fffffffffffffp1023;
