override o = 1;
const a = array(1, 2, 3);
override p = a[o];
