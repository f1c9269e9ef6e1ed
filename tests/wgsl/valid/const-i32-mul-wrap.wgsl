const a = 65536i * 65536i;
const_assert a == 0;
