enable f16;
override a: f16 = 1.5h;
