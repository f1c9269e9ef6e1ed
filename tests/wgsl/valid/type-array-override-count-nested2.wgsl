override N = 4;
var<workgroup> a: array<array<i32, 2>, N>;
