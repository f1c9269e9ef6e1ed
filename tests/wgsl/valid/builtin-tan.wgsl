const a = tan(1.0);
const b = sin(vec2(1.0));
const c = cos(1f);
const d = tanh(100.0);
