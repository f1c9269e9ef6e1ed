const_assert i32(1.9) == 1;
const_assert i32(-1.9f) == -1;
const_assert u32(3.99) == 3;
