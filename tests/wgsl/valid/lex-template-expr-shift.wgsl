const N = 2; var<private> a: array<i32, (N << 1)>;
