// By the arc tangent, which devices compute more exactly than this function itself. Beyond 1 the root is NaN.
fn acos_f32(x: f32) -> f32 { return atan2(sqrt((1.0 - x) * (1.0 + x)), x); }
