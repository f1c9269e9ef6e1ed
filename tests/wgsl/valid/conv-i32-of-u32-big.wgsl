const a = i32(4294967295u);
const_assert a == -1;
