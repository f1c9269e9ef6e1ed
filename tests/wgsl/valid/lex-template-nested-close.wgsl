var<private> a: array<vec2<f32>,2>= array<vec2<f32>,2>();
