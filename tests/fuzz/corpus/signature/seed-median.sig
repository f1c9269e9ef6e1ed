windowed_median(x: f32[n]; w: u32 in 1..=31 odd = 7) -> y: f32[n - w + 1] where n >= w
