const a = vec2<i32>(vec2f(1.5, -2.5));
const_assert all(a == vec2(1, -2));
