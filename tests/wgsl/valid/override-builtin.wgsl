override o = 2.0;
override p = max(sqrt(o), 1.0);
