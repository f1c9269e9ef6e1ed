const_assert (-8i >> 1u) == -4i;
const_assert (0xF0u >> 4u) == 15u;
const_assert (-1 >> 70) == -1;
