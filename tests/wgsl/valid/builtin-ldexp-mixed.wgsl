const a = ldexp(1.5, 2i);
const b = ldexp(1.5f, 2);
