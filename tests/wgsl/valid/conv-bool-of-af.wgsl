const d = bool(0.5);
const_assert d;
