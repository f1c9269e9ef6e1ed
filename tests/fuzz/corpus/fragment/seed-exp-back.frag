%d_x = mul %d_y %y
