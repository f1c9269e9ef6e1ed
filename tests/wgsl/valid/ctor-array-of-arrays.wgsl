const a = array(array(1, 2), array(3, 4));
const_assert a[1][0] == 3;
const b: array<array<f32, 2>, 2> = a;
