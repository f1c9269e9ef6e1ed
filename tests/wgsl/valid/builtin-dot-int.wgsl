const_assert dot(vec3(1, 2, 3), vec3(4, 5, 6)) == 32;
const_assert dot(vec2(1u, 2u), vec2(3u, 4u)) == 11;
