const bf16 = 1;
