const_assert fma(2.0, 3.0, 4.0) == 10;
