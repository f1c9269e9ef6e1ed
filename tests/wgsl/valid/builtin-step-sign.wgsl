const_assert step(1.0, 2.0) == 1;
const_assert sign(-3) == -1;
const_assert sign(2.5) == 1;
const_assert saturate(2.0) == 1;
