const a = u32(-1i);
const_assert a == 4294967295;
