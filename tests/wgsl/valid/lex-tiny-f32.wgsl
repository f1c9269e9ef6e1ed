const a = 1e-60f;
