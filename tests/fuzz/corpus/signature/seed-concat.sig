concat(xs: T[..s]*; axis: u32) -> y: T[..concat(s, axis)]  T in f32, f16, i32, u32, i8, u8, i64, u64, bool
