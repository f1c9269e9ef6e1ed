const N = 2; var<private> a: array<i32, (select(1, 2, N > 1))>;
