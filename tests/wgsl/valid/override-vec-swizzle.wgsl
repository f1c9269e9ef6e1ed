override o = 1.5;
override p = vec2(o, 2.0).yx.x;
