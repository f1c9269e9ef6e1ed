const_assert extractBits(0xF0u, 4u, 4u) == 15u;
const_assert extractBits(0xF0i, 4, 4) == -1;
const_assert insertBits(0u, 15u, 4, 4) == 240u;
