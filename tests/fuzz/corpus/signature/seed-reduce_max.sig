reduce_max(x: T[..s]; axes: u32[*] = all, keep_dimensions: bool = false) -> y: T[..drop(s, axes, keep_dimensions)] where reduced_size(x, axes) > 0  T in f32, f16, i32, u32, i8, u8
