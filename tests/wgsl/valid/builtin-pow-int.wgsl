const a = pow(2, 3);
const_assert a == 8;
