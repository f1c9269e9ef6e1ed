const_assert all(vec2(1, 2) + vec2(3, 4) == vec2(4, 6));
const_assert all(2 * vec2(1, 2) == vec2(2, 4));
const_assert all(!vec2(true, false) == vec2(false, true));
