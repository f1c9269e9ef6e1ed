const_assert unpack4x8unorm(0xffu).x == 1.0;
const_assert all(unpack4xI8(0xffu) == vec4(-1, 0, 0, 0));
const_assert unpack2x16float(0x3c00u).x == 1.0;
