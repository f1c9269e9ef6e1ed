const a = mat2x2(1, 2, 3, 4);
const b: mat2x2<f32> = a;
