const_assert -7 / 2 == -3;
const_assert -7 % 2 == -1;
const_assert 7i % -2i == 1;
const_assert -7.5 % 2.0 == -1.5;
