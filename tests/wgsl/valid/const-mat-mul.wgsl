const m = mat2x2(1, 2, 3, 4);
const v = m * vec2(1, 1);
const_assert v.x == 4;
const_assert v.y == 6;
const w = vec2(1, 1) * m;
const_assert w.x == 3;
const n = m * m;
const_assert n[0][0] == 7;
const_assert n[1][1] == 22;
