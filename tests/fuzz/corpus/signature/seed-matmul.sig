matmul(a: T[..s, m, k], b: T[..t, k, n]) -> y: T[..broadcast(s, t), m, n]  T in f32, f16
