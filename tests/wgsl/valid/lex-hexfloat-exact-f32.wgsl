const a = 0x1.000002p0f;
