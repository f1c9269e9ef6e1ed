const a = 4294967295u + 1u;
const_assert a == 0;
