enable f16,;
