const a = atanh(0.5);
const b = asinh(1e3);
const c = acosh(1.0);
const d = atan2(0, 0);
const e = atan(1e30);
