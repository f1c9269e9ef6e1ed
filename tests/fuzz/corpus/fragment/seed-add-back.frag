%d_a = sum_to_shape %d_y shape=shape(a)
%d_b = sum_to_shape %d_y shape=shape(b)
