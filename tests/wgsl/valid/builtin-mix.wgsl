const_assert mix(1.0, 3.0, 0.5) == 2;
const a = mix(vec2(1.0), vec2(2.0), 0.5);
const b = mix(vec2(1.0), vec2(2.0), vec2(0.5));
