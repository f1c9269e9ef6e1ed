var<private> a: array<u32, 2049>;
