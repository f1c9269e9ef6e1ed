const a = array(1, 2, 3);
const b = a[1];
const_assert b == 2;
