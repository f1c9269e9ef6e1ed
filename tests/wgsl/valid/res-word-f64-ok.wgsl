const f64 = 1;
