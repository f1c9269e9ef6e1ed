const a = f32(16777217);
const_assert a == 16777216f;
