const_assert all(true);
const_assert any(vec2(true, false));
const_assert !all(vec2(true, false));
