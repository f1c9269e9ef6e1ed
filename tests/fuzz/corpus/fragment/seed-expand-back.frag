%d_x = sum_to_shape %d_y shape=shape(x)
