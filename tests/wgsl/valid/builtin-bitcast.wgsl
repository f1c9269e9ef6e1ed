const_assert bitcast<u32>(1.0f) == 0x3f800000u;
const_assert bitcast<f32>(0x3f800000u) == 1.0;
const_assert bitcast<i32>(4294967295u) == -1;
const a = bitcast<vec2<u32>>(vec2f(1, 2));
const b = bitcast<u32>(1.0);
