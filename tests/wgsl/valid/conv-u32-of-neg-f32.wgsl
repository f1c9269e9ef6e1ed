const a = u32(-5f);
const_assert a == 0;
