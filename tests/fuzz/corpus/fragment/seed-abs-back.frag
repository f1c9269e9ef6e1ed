%z = constant 0 : T[]
%m = lesser %x %z
%n = neg %d_y
%d_x = where %m %n %d_y
