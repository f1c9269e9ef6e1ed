%qa = div %d_y %b
%d_a = sum_to_shape %qa shape=shape(a)
%r = div %qa %b
%t = mul %r %a
%n = neg %t
%d_b = sum_to_shape %n shape=shape(b)
