const vec = 1;
