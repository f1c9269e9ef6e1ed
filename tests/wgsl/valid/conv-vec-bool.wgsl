const a = vec3<bool>(vec3(0, 1, 2));
const_assert !a.x && a.y;
