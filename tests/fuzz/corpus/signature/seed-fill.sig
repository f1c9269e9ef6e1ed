fill(; shape: u32[*], value: f32 = 0, type: dtype = f32) -> y: type[..shape]
