const a = f32();
const b = bool();
const c = i32();
const_assert a == 0;
const_assert !b;
