const_assert (1 << 40) == 1099511627776;
