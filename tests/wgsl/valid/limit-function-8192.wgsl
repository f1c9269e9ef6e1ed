fn f() { var a: array<u32, 2049>; }
