enable f16;
const a = f32(1.5h);
const_assert a == 1.5;
