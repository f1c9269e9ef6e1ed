const a = vec2(1, 2.5);
const b = vec3(1i, 2, 3);
const c = vec2(1f, 2);
