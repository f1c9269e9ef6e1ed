override o = 2u;
override p = 1 << o;
