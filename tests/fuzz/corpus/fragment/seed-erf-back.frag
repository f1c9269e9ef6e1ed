%q = mul %x %x
%n = neg %q
%e = exp %n
%c = constant 1.1283791670955126 : T[]
%m = mul %e %c
%d_x = mul %m %d_y
