const a = vec3();
const b: vec3f = vec3();
const c = vec2<bool>();
