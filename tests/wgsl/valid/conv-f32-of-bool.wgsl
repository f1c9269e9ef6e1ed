const a = f32(true);
const_assert a == 1;
const b = i32(false);
const c = bool(0.0f);
const_assert !c;
const d = bool(5);
const_assert d;
