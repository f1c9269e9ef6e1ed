%d_x = div %d_y %x
