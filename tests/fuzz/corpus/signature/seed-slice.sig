slice(x: T[..s]; starts: u32[*], sizes: u32[*], strides: u32[*] = 1) -> y: T[..slice(s, starts, sizes, strides)]  T in f32, f16, i32, u32, i8, u8, i64, u64, bool
