// expect: wgsl/wrong-kind-of-name 3
const c = 1;
alias A = c;
