const ptr = 1;
