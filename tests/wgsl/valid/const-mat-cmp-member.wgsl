const m = mat2x2f();
const_assert all(m[0] == vec2f());
