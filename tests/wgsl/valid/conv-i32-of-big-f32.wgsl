const a = i32(1e20f);
const_assert a == 2147483647;
