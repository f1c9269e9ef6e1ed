var<private> a: vec2<f32>=vec2<f32>();
