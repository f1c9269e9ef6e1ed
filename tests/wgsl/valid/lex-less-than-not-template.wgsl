fn f(a: i32, b: i32, c: i32) -> bool { let x = a < b; let y = b > c; return x && y; }
