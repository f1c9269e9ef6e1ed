// expect: wgsl/unresolved-name 2
alias A = foo;
