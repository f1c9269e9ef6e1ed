const a = false && (1 / 0 == 1);
