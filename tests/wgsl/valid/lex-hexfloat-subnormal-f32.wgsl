const a = 0x1p-149f;
