const a = acos(1);
const_assert a == 0;
