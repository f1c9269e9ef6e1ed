const_assert dot4U8Packed(0x01010101u, 0x02020202u) == 8u;
const_assert dot4I8Packed(0xffu, 0x2u) == -2i;
