const N = 4;
const A = array(1, 2);
const b = N < 2 && A[N] == 1;
