const_assert round(2.5) == 2;
const_assert round(-1.5) == -2;
const_assert ceil(1.2) == 2;
const_assert floor(-1.2) == -2;
const_assert trunc(-1.7) == -1;
const_assert fract(1.25) == 0.25;
