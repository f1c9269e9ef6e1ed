gather(x: T[..s], indices: I[..i]; axis: u32 = 0) -> y: T[..replace(s, axis, i)]  T in f32, f16, i32, u32, i8, u8, i64, u64, bool  I in i32, u32, i64
