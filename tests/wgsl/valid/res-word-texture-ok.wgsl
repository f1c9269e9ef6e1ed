const texture = 1;
