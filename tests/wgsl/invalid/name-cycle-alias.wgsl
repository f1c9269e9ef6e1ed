// expect: wgsl/cycle 2
alias A = B;
alias B = A;
