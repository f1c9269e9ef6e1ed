const a = array(1, 2.5);
const b = array(vec2(1, 2), vec2(1.5, 2));
const c: array<f32, 2> = array(1, 2);
