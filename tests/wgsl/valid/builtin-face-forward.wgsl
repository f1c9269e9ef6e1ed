const a = faceForward(vec2(1.0, 0), vec2(1.0, 0), vec2(0, 1.0));
const b = reflect(vec2(1.0, -1), vec2(0, 1.0));
const c = refract(vec2(1.0, -1), vec2(0, 1.0), 0.5);
