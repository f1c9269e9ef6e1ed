const_assert exp2(3.0) == 8;
const_assert exp(0.0) == 1;
