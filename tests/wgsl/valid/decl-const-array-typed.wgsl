const a: array<f32, 3> = array(1, 2, 3);
const_assert a[2] == 3.0;
