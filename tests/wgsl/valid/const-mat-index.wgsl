const m = mat2x3(1, 2, 3, 4, 5, 6);
const_assert m[1][2] == 6;
