var<private> a: array<array<array<array<array<array<array<array<array<array<array<array<array<array<i32, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>, 1>;
