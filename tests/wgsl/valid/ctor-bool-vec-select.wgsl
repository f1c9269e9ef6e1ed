const_assert all(select(vec2(1, 2), vec2(3, 4), vec2(true, false)) == vec2(3, 2));
