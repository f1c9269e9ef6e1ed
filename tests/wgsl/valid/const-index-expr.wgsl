const a = array(1, 2, 3);
const i = 1;
const_assert a[i + 1] == 3;
