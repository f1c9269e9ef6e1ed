const a = true || (1 / 0 == 1);
