enable f16;
const a = bitcast<vec2<f16>>(0x3c003c00u);
const b = bitcast<u32>(vec2<f16>(1, 1));
const c = bitcast<vec2<u32>>(vec4<f16>());
