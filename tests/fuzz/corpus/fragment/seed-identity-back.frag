%d_x = identity %d_y
