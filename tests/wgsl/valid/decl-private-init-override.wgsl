override o = 3;
var<private> a: i32 = o + 1;
