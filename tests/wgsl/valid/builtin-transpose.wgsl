const m = transpose(mat2x3(1, 2, 3, 4, 5, 6));
const_assert m[0][1] == 4;
const n: mat3x2<f32> = m;
