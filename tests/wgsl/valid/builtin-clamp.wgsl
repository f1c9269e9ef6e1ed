const_assert clamp(5, 1, 3) == 3;
const_assert clamp(1.5, 2, 3) == 2;
const a = clamp(vec2(1u, 9u), vec2(2u), vec2(4u));
