override o = 0;
override p = 1 / o;
