const a = bitcast<f32>(1);
