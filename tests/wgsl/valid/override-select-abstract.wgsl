override o = true;
override p = select(1, 2, o);
