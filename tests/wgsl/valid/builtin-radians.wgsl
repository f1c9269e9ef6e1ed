const_assert radians(180.0) > 3.14;
const_assert degrees(3.14159) > 179;
