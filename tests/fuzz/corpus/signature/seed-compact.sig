compact(x: T[n], keep: bool[n]) -> y: T[m <= n]  T in f32, i32
