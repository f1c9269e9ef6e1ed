const a = 2147483647i;
