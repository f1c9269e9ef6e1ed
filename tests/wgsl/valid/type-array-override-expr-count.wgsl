override N = 4;
var<workgroup> a: array<i32, N * 2 + 1>;
var<workgroup> b: array<i32, (N)>;
