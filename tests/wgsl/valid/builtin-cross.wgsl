const_assert all(cross(vec3(1, 0, 0), vec3(0, 1, 0)) == vec3(0, 0, 1));
