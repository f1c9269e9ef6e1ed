const_assert pack4x8unorm(vec4f(1, 0, 0, 1)) == 0xff0000ffu;
const_assert pack2x16float(vec2f(1, 0)) == 0x3c00u;
const_assert pack4x8snorm(vec4f(-1, 0, 0, 0)) == 0x81u;
const_assert pack4xU8(vec4u(1, 2, 3, 260)) == 0x04030201u;
const_assert pack4xI8Clamp(vec4i(-200, 0, 0, 0)) == 0x80u;
