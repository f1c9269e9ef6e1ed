const_assert determinant(mat2x2(1, 2, 3, 4)) == -2;
const b = determinant(mat4x4f());
