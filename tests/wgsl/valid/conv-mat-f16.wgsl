enable f16;
const a = mat2x2<f16>(mat2x2f(1, 2, 3, 4));
const b = mat2x2<f32>(a);
