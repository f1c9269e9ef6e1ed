const handle = 1;
