const_assert length(vec2(3, 4)) == 5;
const_assert length(-2.5) == 2.5;
const_assert distance(vec2(1, 1), vec2(4, 5)) == 5;
